// Command packimage packs a folder as a container image of one layer and writes it to
// standard output, in the form that "docker load" reads:
//
//	packimage -tag zkrecipes/zookeeper:debian -config FILE FOLDER | docker load
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
	"time"
)

func main() {
	tag := flag.String("tag", "", "name the image gets, repository:tag")
	config := flag.String("config", "", "file with the image's configuration: JSON, the field \"config\" of OCI's format")
	architecture := flag.String("architecture", runtime.GOARCH, "of the programs in the folder")
	seconds := flag.Int64("time", 0, "when all of it was made, in seconds since 1970")
	flag.Parse()
	if *tag == "" || *config == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: packimage -tag REPOSITORY:TAG -config FILE [-architecture NAME] [-time SECONDS] FOLDER")
		os.Exit(2)
	}
	i := image{tag: *tag, architecture: *architecture, made: time.Unix(*seconds, 0).UTC()}
	var err error
	if i.config, err = os.ReadFile(*config); err == nil {
		err = i.pack(os.Stdout, flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packimage:", err)
		os.Exit(1)
	}
}

// An image is what an image has beside its files.
type image struct {
	tag, architecture string
	made              time.Time
	config            json.RawMessage
}

// pack writes the image of folder root to w.
func (i *image) pack(w io.Writer, root string) (err error) {
	// The archive names the layer's hash and size before the layer, so the layer is
	// written to a file first.
	layer, err := os.CreateTemp("", "packimage-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, layer.Close(), os.Remove(layer.Name())) }()
	hash := sha256.New()
	if err := i.writeLayer(io.MultiWriter(layer, hash), root); err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	config, err := json.Marshal(map[string]any{
		"created": i.made, "architecture": i.architecture, "os": "linux", "config": i.config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(hash.Sum(nil))}},
	})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(config)
	configName := hex.EncodeToString(sum[:]) + ".json"
	manifest, err := json.Marshal([]map[string]any{{"Config": configName, "RepoTags": []string{i.tag}, "Layers": []string{"layer.tar"}}})
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
	return i.archive(w, []file{
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
func (i *image) archive(w io.Writer, files []file) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		if err := out.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: f.size, ModTime: i.made}); err != nil {
			return err
		}
		if _, err := io.Copy(out, f.content); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeLayer writes everything below root to w, in the order of the names.
func (i *image) writeLayer(w io.Writer, root string) error {
	layer := tar.NewWriter(w)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return i.add(layer, path, filepath.ToSlash(name), entry)
	})
	return errors.Join(err, layer.Close())
}

// add writes one folder, file or symbolic link.
func (i *image) add(layer *tar.Writer, path, name string, entry fs.DirEntry) error {
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
		Typeflag: header.Typeflag, Name: name, Linkname: link, Size: header.Size, Mode: header.Mode, ModTime: i.made,
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
