package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	pictureFile = "../../docs/terminal.svg"
	pictureDir  = "../../docs/terminal"

	// pictureSession is long, so that a busy machine that stands still for seconds does
	// not break a connection, which would print lines that the picture does not have.
	pictureSession = 30 * time.Second
)

// A host of the picture has a terminal, and a cable to the server.
type host struct {
	name, dir string
	cable     *cable

	mu    sync.Mutex
	text  string        // all that the terminal has shown
	below int           // where that of the last command begins
	ended chan struct{} // closed when the last command has ended
}

// The picture of a terminal shows what the command really prints: its steps are done
// here too, and the words compared. Numbers and times are not.
func TestPictureOfATerminal(t *testing.T) {
	t.Parallel()
	hosts, said := doSteps(t)
	frames := readPicture(t)
	require.Greater(t, len(frames), 50)
	var shown strings.Builder
	var bars []string
	for i, f := range frames {
		for at, h := range hosts {
			text := f.panes[at]
			printed, words := wordsOf(h.text), wordsOf(text)
			if !strings.Contains(printed, words) {
				// What has scrolled away may have taken a part of a line with it.
				if _, below, found := strings.Cut(text, "\n"); found {
					words = wordsOf(below)
				}
			}
			if !strings.Contains(printed, words) {
				require.Fail(t, "this is not printed any more: \"make picture\" draws it again", "frame %d, %s:\n%s\nit is:\n%s", i, h.name, text, h.text)
			}
			shown.WriteString(words + "\n")
		}
		require.Contains(t, said, f.bar, "frame %d", i)
		bars = append(bars, f.bar)
	}
	require.Subset(t, bars, said[1:], "\"make picture\" draws it again")
	for _, h := range hosts {
		for line := range strings.SplitSeq(h.text, "\n") {
			if !strings.Contains(shown.String(), wordsOf(line)) {
				require.Fail(t, "this is not in the picture: \"make picture\" draws it again", "%s: %s", h.name, line)
			}
		}
	}
}

// doSteps does the steps of the picture, and returns the hosts, from top to bottom, and
// what is written into the bar.
func doSteps(t *testing.T) (hosts []*host, said []string) {
	t.Helper()
	steps, err := os.ReadFile(filepath.Join(pictureDir, "steps"))
	require.NoError(t, err)
	server := shortLived(t)
	bin := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(bin, "zkrecipes")))
	t.Cleanup(func() { // before the programs are gone
		for _, h := range hosts {
			if h.ended != nil {
				<-h.ended
			}
		}
	})
	byName := map[string]*host{}
	for _, name := range []string{"web-1", "web-2", "zk-1"} {
		h := newHost(t, name, server)
		hosts, byName[name] = append(hosts, h), h
	}
	said = []string{""}
	for line := range strings.Lines(string(steps)) {
		words := append(strings.Fields(line), "", "")
		first, second, rest := words[0], words[1], strings.Join(strings.Fields(line)[min(2, len(words)-2):], " ")
		h := byName[first]
		switch {
		case first == "" || first == "#" || strings.HasPrefix(first, "#") || first == "pause":
		case first == "say":
			said = append(said, strings.TrimSpace(second+" "+rest))
		case h == nil:
			require.Fail(t, "no such step", line)
		case second == "$" && rest == "ip link set web-2 down":
			h.types(rest)
			byName["web-2"].cable.cut()
			h.hasEnded()
		case second == "$":
			h.start(t, bin, rest)
		case second == "shows":
			until(t, strings.TrimSpace(line), func() bool { return h.shows(rest) })
		case second == "finishes":
			h.finish(t)
		default:
			require.Fail(t, "no such step", line)
		}
	}
	for _, h := range hosts {
		h.finish(t)
		<-h.ended
	}
	return hosts, said
}

func newHost(t *testing.T, name string, server *zktest.Server) *host {
	t.Helper()
	h := &host{name: name, dir: t.TempDir(), cable: newCable(t, server.Addr()), text: name + "$ "}
	job, err := os.ReadFile(filepath.Join(pictureDir, "report"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "report"), job, 0o700))
	return h
}

// types shows a command line, after the prompt.
func (h *host) types(line string) {
	if h.ended != nil {
		<-h.ended
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text += line + "\n"
	h.below, h.ended = len(h.text), make(chan struct{})
}

// hasEnded shows the next prompt.
func (h *host) hasEnded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text += h.name + "$ "
	close(h.ended)
}

func (h *host) shows(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(h.text[h.below:], text)
}

func (h *host) finished() string { return filepath.Join(h.dir, "finished") }

// finish ends the job of the host.
func (h *host) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(h.finished(), nil, 0o600))
}

// start runs a command line at a terminal.
func (h *host) start(t *testing.T, bin, line string) {
	t.Helper()
	h.types(line)
	_ = os.Remove(h.finished())
	user, program := openTerminal(t)
	shell := exec.Command("sh", "-c", line)
	shell.Dir = h.dir
	shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TERM=xterm", "NO_COLOR=1", "FINISH="+h.finished(),
		envProgram+"=1", envServers+"="+h.cable.addr(), "ZKRECIPES_SESSION_TIMEOUT="+pictureSession.String(), "GORACE=atexit_sleep_ms=0")
	shell.Stdin, shell.Stdout, shell.Stderr = program, program, program
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := startUnignored(shell)
	program.Close()
	if err != nil {
		h.hasEnded()
	}
	require.NoError(t, err)
	ended := h.ended
	t.Cleanup(func() {
		select {
		case <-ended: // its number may be another's
		default:
			_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		}
	})
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := user.Read(buf)
			h.mu.Lock()
			h.text += strings.ReplaceAll(string(buf[:n]), "\r\n", "\n")
			h.mu.Unlock()
			if err != nil { // no process has the terminal any more
				break
			}
		}
		_ = shell.Wait()
		h.hasEnded()
	}()
}
