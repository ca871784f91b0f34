package lockorder

import (
	"bytes"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A stack is the call stack of an Acquire.
type stack []uintptr

// maxRecorded calls are recorded, of which some are those of this library.
const maxRecorded = 48

// recordStack records that of the caller.
func recordStack() stack {
	var pcs [maxRecorded]uintptr
	return slices.Clone(pcs[:runtime.Callers(2, pcs[:])])
}

// frames returns the calls, the innermost first, without those of this library that
// come first.
func (s stack) frames() (all []runtime.Frame) {
	frames := runtime.CallersFrames(s)
	for more := len(s) > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if len(all) > 0 || !isLibrary(f.File) {
			all = append(all, f)
		}
	}
	return all
}

// library is the folder of this module.
var library = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "recipes/lockorder/stack.go")
}()

// isLibrary reports whether a file is one of this library, and not of its programs and
// tests. The names of functions do not tell: those of closures begin with the package
// that their function is inlined into.
func isLibrary(file string) bool {
	rest, ours := strings.CutPrefix(file, library)
	folder, _, _ := strings.Cut(rest, "/")
	return ours && folder != "cmd" && folder != "examples" && !strings.HasSuffix(rest, "_test.go")
}

// goroutine returns the number of the calling goroutine, which no other one ever has.
func goroutine() uint64 {
	var buf [64]byte
	text, _ := bytes.CutPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	n, _ := strconv.ParseUint(string(digits), 10, 64)
	return n
}
