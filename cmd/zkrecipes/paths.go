package main

import (
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
)

// pathList is what a job locks: arguments, or the values of a flag that may be given
// more than once, in the order of the command line.
type pathList []string

// Set adds a path.
func (l *pathList) Set(path string) error {
	*l = append(*l, path)
	return nil
}

// String names all of them in a message.
func (l pathList) String() string { return enumerate(l, "and") }

// either names them where a message is about one that is not known.
func (l pathList) either() string { return enumerate(l, "or") }

// are is the verb for them.
func (l pathList) are() string {
	if len(l) == 1 {
		return "is"
	}
	return "are"
}

// enumerate joins words: "a", "a and b", "a, b and c".
func enumerate(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// checkPaths finds the mistakes in the paths that show without a server. A path has one
// valid spelling, so equal paths are equal strings.
func (f *jobFlags) checkPaths(verb string) error {
	for i, path := range f.paths {
		if err := checkPath(verb, path); err != nil {
			return err
		}
		if slices.Contains(f.paths[:i], path) {
			return usageErrorf("%s: the path %s is given twice", verb, path)
		}
	}
	return nil
}

// checkPath finds the mistakes in one path, for any verb.
func checkPath(verb, path string) error {
	switch path {
	case "":
		return usageErrorf("%s: a path is empty: perhaps a variable of the shell is not set", verb)
	case "/":
		return usageErrorf("%s: /: that needs a node of its own, such as %s", verb, examplePath(verb))
	}
	if err := framework.ValidatePath(path); err != nil {
		return usageErrorf("%s: %v", verb, err)
	}
	return nil
}

// examplePath is a path for which a verb makes sense.
func examplePath(verb string) string {
	if verb == "elect" {
		return "/elections/scheduler"
	}
	return "/locks/backup"
}

// given returns the path of the command line of which full is the full path, "" if
// there is none.
func (j *job) given(full string) string {
	if i := slices.Index(j.fullPaths(j.cfg.Chroot), full); i >= 0 {
		return j.paths[i]
	}
	return ""
}

// fullPaths are all paths, below a chroot.
func (f *jobFlags) fullPaths(chroot string) (all []string) {
	for _, path := range f.paths {
		all = append(all, chroot+path)
	}
	return all
}
