// Command packimage packs a folder as a container image of one layer and writes it to
// standard output, in the form that "docker load" reads:
//
//	packimage -tag zkrecipes/zookeeper:debian -label key=value FOLDER | docker load
//
// Times, owners and order are fixed: the same folder gives the same image.
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	tag := flag.String("tag", "", "name the image gets, repository:tag")
	label := flag.String("label", "", "label of the image, key=value")
	flag.Parse()
	key, value, ok := strings.Cut(*label, "=")
	if *tag == "" || !ok || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: packimage -tag REPOSITORY:TAG -label KEY=VALUE FOLDER")
		os.Exit(2)
	}
	if err := pack(os.Stdout, flag.Arg(0), *tag, map[string]string{key: value}); err != nil {
		fmt.Fprintln(os.Stderr, "packimage:", err)
		os.Exit(1)
	}
}

// pack writes the image of folder root to w.
func pack(w io.Writer, root, tag string, labels map[string]string) (err error) {
	// The archive names the layer's hash and size before the layer, so the layer is
	// written to a file first.
	layer, err := os.CreateTemp("", "packimage-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, layer.Close(), os.Remove(layer.Name())) }()
	hash := sha256.New()
	if err := writeLayer(io.MultiWriter(layer, hash), root); err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	config, err := json.Marshal(imageConfig("sha256:"+hex.EncodeToString(hash.Sum(nil)), labels))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(config)
	configName := hex.EncodeToString(sum[:]) + ".json"
	manifest, err := json.Marshal([]map[string]any{{"Config": configName, "RepoTags": []string{tag}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}

	size, err := layer.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := layer.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return archive(w, []file{
		{"manifest.json", int64(len(manifest)), bytes.NewReader(manifest)},
		{configName, int64(len(config)), bytes.NewReader(config)},
		{"layer.tar", size, layer},
	})
}

// A file is one of the image's archive.
type file struct {
	name    string
	size    int64
	content io.Reader
}

// archive writes the files to w.
func archive(w io.Writer, files []file) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		if err := out.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: f.size, ModTime: time.Unix(0, 0)}); err != nil {
			return err
		}
		if _, err := io.Copy(out, f.content); err != nil {
			return err
		}
	}
	return out.Close()
}

// imageConfig returns a configuration like that of the official image.
func imageConfig(layer string, labels map[string]string) map[string]any {
	empty := struct{}{}
	return map[string]any{
		"created":      time.Unix(0, 0).UTC(),
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config": map[string]any{
			"Entrypoint":   []string{"/docker-entrypoint.sh"},
			"Cmd":          []string{"zkServer.sh", "start-foreground"},
			"Env":          []string{"PATH=/bin:/opt/java/bin", "ZOO_CONF_DIR=/conf", "ZOO_DATA_DIR=/data", "ZOO_DATA_LOG_DIR=/datalog"},
			"ExposedPorts": map[string]any{"2181/tcp": empty, "2888/tcp": empty, "3888/tcp": empty, "8080/tcp": empty},
			"Volumes":      map[string]any{"/data": empty, "/datalog": empty, "/logs": empty},
			"Labels":       labels,
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layer}},
	}
}

// writeLayer writes everything below root to w, in the order of the names.
func writeLayer(w io.Writer, root string) error {
	layer := tar.NewWriter(w)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return add(layer, path, filepath.ToSlash(name), entry)
	})
	return errors.Join(err, layer.Close())
}

// add writes one folder, file or symbolic link.
func add(layer *tar.Writer, path, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	if info.IsDir() {
		name += "/"
	}
	*header = tar.Header{
		Typeflag: header.Typeflag, Name: name, Linkname: link, Size: header.Size, Mode: header.Mode, ModTime: time.Unix(0, 0),
	}
	if err := layer.WriteHeader(header); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	content, err := os.Open(path) //nolint:gosec // the folder to pack is given by the caller
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	_, err = io.Copy(layer, content)
	return err
}
