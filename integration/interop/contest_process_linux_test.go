package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
)

// The sides of a contest. Each is one process at a time.
const (
	goSide   = "go"
	javaSide = "java"
)

var sides = []string{goSide, javaSide}

// A contender is one process of a contest. It ends by itself at the end of its input,
// and so with the test binary.
type contender struct {
	name   string
	cmd    *exec.Cmd
	input  io.WriteCloser
	killed atomic.Int64  // when it was killed, or 0
	leaves atomic.Bool   // its standard input was closed
	done   chan struct{} // closed when it has ended and is in the history
	err    error         // how; to be read after done
}

// command returns the command of a side's process: this binary, or the program in the
// folder java.
func (c *contest) command(ctx context.Context, side string, number int) (*exec.Cmd, error) {
	if side == goSide {
		plan, err := json.Marshal(contestant{
			Recipe: c.recipe, Server: c.server, Path: c.path, Session: contestSession, Contenders: contenders,
			Size: semaphoreSize, Most: semaphoreMost, Seed: c.seed + uint64(number),
		})
		cmd := exec.CommandContext(ctx, os.Args[0]) //nolint:gosec // this very binary
		cmd.Env = append(os.Environ(), contestantEnv+"="+string(plan))
		return cmd, err
	}
	classes, err := compile()
	if err != nil {
		return nil, err
	}
	arguments := append(javaFlags(classes), "Interop", "contest-"+c.recipe, c.server, c.path,
		fmt.Sprintf("session=%d", contestSession.Milliseconds()), fmt.Sprintf("contenders=%d", contenders),
		fmt.Sprintf("size=%d", semaphoreSize), fmt.Sprintf("most=%d", semaphoreMost))
	java, err := tool("java")
	return exec.CommandContext(ctx, java, arguments...), err //nolint:gosec // the command is the test's own
}

// start starts the next process of a side. One goroutine adds its output, and then its
// end, to the history.
func (c *contest) start(ctx context.Context, side string) error {
	c.started[side]++
	p := &contender{name: fmt.Sprintf("%s-%d", side, c.started[side]), done: make(chan struct{})}
	var err error
	if p.cmd, err = c.command(ctx, side, c.started[side]); err != nil {
		return err
	}
	var complaints bytes.Buffer
	p.cmd.Stderr = &complaints
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	// A paused process would outlive a test binary that is killed, so the system kills
	// it when the thread that started it ends. So only one thread is used.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		defer close(p.done)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			c.history.add(side, p.name, lines.Bytes())
		}
		err = p.cmd.Wait()
		killed := p.killed.Load()
		switch {
		case killed != 0 && p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled():
			err = nil
		case err != nil:
			err = fmt.Errorf("%w\n%s", err, complaints.String())
		case !p.leaves.Load():
			err = errors.New("it ended by itself")
		}
		p.err = err
		c.history.gone(p.name, killed, err)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	c.now[side] = p
	c.everyone = append(c.everyone, p)
	return nil
}

// kill kills the process as by kill -9.
func (p *contender) kill() error {
	at, err := monotonic()
	if err != nil {
		return err
	}
	p.killed.Store(at) // until then it was certainly alive
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return nil
}
