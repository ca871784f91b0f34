package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sources are the program that speaks for Curator.
//
//go:embed java/*.java
var sources embed.FS

// jars are those of Debian's packages.
var jars = []string{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute", "guava", "slf4j-api", "slf4j-simple"}

const installCurator = ".ci/install-peers installs it, or on Debian and Ubuntu apt-get install --no-install-recommends " +
	"libcurator-recipes-java libslf4j-java default-jdk-headless; -systems chooses what can do without"

// curatorPath is the class path of Curator.
func curatorPath() (string, error) {
	var path []string
	for _, jar := range jars {
		file := "/usr/share/java/" + jar + ".jar"
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("curator is not installed: %w: %s", err, installCurator)
		}
		path = append(path, file)
	}
	if _, err := exec.LookPath("javac"); err != nil {
		return "", fmt.Errorf("no compiler for Curator's program: %w: %s", err, installCurator)
	}
	return strings.Join(path, ":"), nil
}

// compile compiles the program into a folder and returns the class path to run it with.
func compile(ctx context.Context, dir string) (string, error) {
	path, err := curatorPath()
	if err != nil {
		return "", err
	}
	files, err := sources.ReadDir("java")
	if err != nil {
		return "", err
	}
	arguments := []string{"-proc:none", "-d", dir, "-cp", path}
	for _, f := range files {
		text, err := sources.ReadFile("java/" + f.Name())
		if err != nil {
			return "", err
		}
		name := filepath.Join(dir, f.Name())
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
		arguments = append(arguments, name)
	}
	if out, err := exec.CommandContext(ctx, "javac", arguments...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, out)
	}
	return dir + ":" + path, nil
}
