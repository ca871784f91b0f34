package zktest

import "strings"

// Paths of the nodes that every server has. They cannot be deleted.
const (
	rootPath   = "/"
	procPath   = "/zookeeper"
	quotaPath  = "/zookeeper/quota"
	configPath = "/zookeeper/config"
)

// splitPath cuts a path before its last slash. The parent of a node under the root is
// "", which the tree takes for the root. ok is false without a slash or with a NUL: the
// only check before the parent is looked up.
func splitPath(path string) (parent, name string, ok bool) {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", "", false
	}
	return path[:slash], path[slash+1:], true
}

// validPath reports whether a path may name a node: absolute, without empty, "." or
// ".." elements, without a trailing slash and without the characters that ZooKeeper
// forbids.
func validPath(path string) bool {
	if path == rootPath {
		return true
	}
	if path == "" || path[0] != '/' || path[len(path)-1] == '/' {
		return false
	}
	for _, element := range strings.Split(path[1:], "/") {
		if element == "" || element == "." || element == ".." {
			return false
		}
	}
	for _, c := range path {
		if forbidden(c) {
			return false
		}
	}
	return true
}

// forbidden reports whether a path may not contain a character. ZooKeeper checks UTF-16
// units and forbids surrogates. So all characters beyond the basic plane are forbidden,
// and so is U+FFFD, as which invalid UTF-8 is read.
func forbidden(c rune) bool {
	return c <= 0x1f || c >= 0x7f && c <= 0x9f || c >= 0xd800 && c <= 0xf8ff || c >= 0xfff0
}

// protected reports whether a node may not be deleted.
func protected(path string) bool {
	return path == rootPath || path == procPath || path == configPath || path == quotaPath
}

// ancestors calls visit for the path itself and then for each parent up to the root.
func ancestors(path string, visit func(path string)) {
	visit(path)
	for path != rootPath && path != "" {
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
		if path == "" {
			path = rootPath
		}
		visit(path)
	}
}
