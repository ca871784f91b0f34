package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSameFolderGivesTheSameImage(t *testing.T) {
	i := example()
	var first, second bytes.Buffer
	require.NoError(t, i.pack(&first, folder(t, time.Unix(1, 0))))
	require.NoError(t, i.pack(&second, folder(t, time.Unix(99, 0))))
	require.True(t, bytes.Equal(first.Bytes(), second.Bytes()))
}

func TestImageHoldsTheFolder(t *testing.T) {
	i := example()
	var image bytes.Buffer
	require.NoError(t, i.pack(&image, folder(t, time.Now())))
	_, files := untar(t, &image)
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	require.NoError(t, json.Unmarshal([]byte(files["manifest.json"]), &manifest))
	require.Len(t, manifest, 1)
	require.Equal(t, []string{"x/y:z"}, manifest[0].RepoTags)
	require.Contains(t, files, manifest[0].Config)

	var config struct {
		Created      time.Time
		Architecture string
		Config       struct{ User string }
	}
	require.NoError(t, json.Unmarshal([]byte(files[manifest[0].Config]), &config))
	require.Equal(t, i.made, config.Created)
	require.Equal(t, "arm64", config.Architecture)
	require.Equal(t, "1:2", config.Config.User)

	headers, content := untar(t, bytes.NewBufferString(files[manifest[0].Layers[0]]))
	require.Equal(t, "run me", content["bin/tool"])
	require.EqualValues(t, 0o755, headers["bin/tool"].Mode)
	require.Equal(t, "tool", headers["bin/alias"].Linkname)
	require.EqualValues(t, tar.TypeDir, headers["bin/"].Typeflag)
	require.Zero(t, headers["bin/tool"].Uid)
	require.Equal(t, i.made, headers["bin/tool"].ModTime.UTC())
}

func TestConfigurationThatIsNoJSONIsAnError(t *testing.T) {
	i := example()
	i.config = []byte(`{"User": `)
	require.Error(t, i.pack(io.Discard, folder(t, time.Now())))
}

func TestMissingFolderIsAnError(t *testing.T) {
	require.ErrorIs(t, example().pack(io.Discard, filepath.Join(t.TempDir(), "none")), os.ErrNotExist)
}

func example() *image {
	return &image{tag: "x/y:z", architecture: "arm64", made: time.Unix(1e9, 0).UTC(), config: []byte(`{"User": "1:2"}`)}
}

func folder(t *testing.T, changed time.Time) string {
	t.Helper()
	root := t.TempDir()
	tool := filepath.Join(root, "bin", "tool")
	require.NoError(t, os.Mkdir(filepath.Dir(tool), 0o755))
	require.NoError(t, os.WriteFile(tool, []byte("run me"), 0o755))
	require.NoError(t, os.Chtimes(tool, changed, changed))
	require.NoError(t, os.Symlink("tool", filepath.Join(root, "bin", "alias")))
	return root
}

func untar(t *testing.T, r io.Reader) (map[string]*tar.Header, map[string]string) {
	t.Helper()
	headers, content := map[string]*tar.Header{}, map[string]string{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return headers, content
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		headers[h.Name], content[h.Name] = h, string(text)
	}
}
