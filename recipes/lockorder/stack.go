package lockorder

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Stack is the call stack of an Acquire. The zero value is empty.
type Stack struct{ pcs []uintptr }

const (
	maxRecorded = 48 // calls, of which some are those of this library
	maxWritten  = 8
)

// recordStack records that of the caller.
func recordStack() Stack {
	var pcs [maxRecorded]uintptr
	return Stack{slices.Clone(pcs[:runtime.Callers(2, pcs[:])])}
}

// Frames returns the calls, the innermost first, without those of this library that
// come first: it begins where the program has called Acquire, or lease.Do. Very long
// stacks are cut.
func (s Stack) Frames() (all []runtime.Frame) {
	if len(s.pcs) == 0 {
		return nil
	}
	frames := runtime.CallersFrames(s.pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if len(all) > 0 || !isLibrary(f.File) {
			all = append(all, f)
		}
	}
	return all
}

// String returns the calls in one line each, without the last ones of many.
func (s Stack) String() string {
	var b strings.Builder
	s.write(&b)
	return strings.TrimPrefix(b.String(), "\n")
}

func (s Stack) write(b *strings.Builder) {
	frames := s.Frames()
	for _, f := range frames[:min(len(frames), maxWritten)] {
		fmt.Fprintf(b, "\n    %s (%s:%d)", f.Function, f.File, f.Line)
	}
	if n := len(frames) - maxWritten; n > 0 {
		fmt.Fprintf(b, "\n    and %d more", n)
	}
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
