package contend

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// permits is the size of every semaphore.
const permits = 10

// A Config says what a process is to be.
type Config struct {
	System  string        // one of Systems
	Server  string        // its address
	Session time.Duration // the session's timeout
	Slots   string        // the file of the Slots
}

// A locker is what one goroutine acquires and releases, again and again.
type locker interface {
	acquire() error
	release() error
}

// tokenOf returns the fencing token of what a locker holds, 0 if the system has none.
func tokenOf(l locker) int64 {
	if fenced, ok := l.(interface{ token() int64 }); ok {
		return fenced.token()
	}
	return 0
}

// A system is one client: one session, as far as the system allows it.
type system interface {
	// locker returns what a worker, from 0, contends for at a path. The kind is
	// "mutex", "semaphore", "read", "write" or "leader". Lockers of different workers
	// exclude each other.
	locker(kind, path string, worker int) (locker, error)
	// queued returns how many contenders a path has, -1 if that cannot be known.
	queued(path string) (int, error)
	close()
}

// systems are those that this package measures, by name.
var systems = map[string]func(Config) (system, error){
	"bare":        openBare,
	"ours":        openOurs,
	"ours-async":  openOursAsync,
	"ours-single": openOursSingle,
	"gozk":        openGozk,
	"etcd":        openEtcd,
	"redsync":     openRedsync,
	"redislock":   openRedislock,
	"postgres":    openPostgres,
	"gozk-state":  openGozkState,
}

// A contender carries out the orders.
type contender struct {
	config Config
	system system
	slots  *Slots
	held   []locker
	holder locker // of the path of the queue
	queue  *queue
	won    chan error // of a campaign
	job    *job
}

// Serve carries out orders until its input ends.
func Serve(ctx context.Context, config Config, in io.Reader, out io.Writer) error {
	open := systems[config.System]
	if open == nil {
		return fmt.Errorf("no system %q", config.System)
	}
	slots, err := OpenSlots(config.Slots)
	if err != nil {
		return err
	}
	s, err := open(config)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", config.Server, err)
	}
	defer s.close()
	c := &contender{config: config, system: s, slots: slots}
	fmt.Fprintln(out, "ok")
	for lines := bufio.NewScanner(in); lines.Scan() && ctx.Err() == nil; {
		fmt.Fprintln(out, c.answer(lines.Text()))
	}
	return nil
}

func (c *contender) answer(line string) string {
	verb, values, err := Parse(line)
	if err != nil {
		return "error " + err.Error()
	}
	c.slots.violations.Store(0)
	result, err := c.do(verb, values)
	if err != nil {
		return "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	result["violations"] = fmt.Sprint(c.slots.violations.Load())
	return Format("ok", result)
}

func (c *contender) do(verb string, v Values) (Values, error) {
	if own, ok := c.system.(interface {
		do(verb string, v Values) (Values, bool, error)
	}); ok {
		if result, done, err := own.do(verb, v); done {
			return result, err
		}
	}
	switch verb {
	case "cycles":
		return c.cycles(v)
	case "take":
		return c.take(v)
	case "drop":
		return c.drop()
	case "hold":
		return c.hold(v)
	case "queue":
		return c.enqueue(v)
	case "drain":
		return c.drain()
	case "left":
		return c.left(v)
	case "resign":
		return c.resign(v)
	case "campaign":
		return c.campaign(v)
	case "elected":
		return Values{}, <-c.won
	case "work":
		return c.work(v)
	case "stopped":
		return c.stopped(v)
	case "memory":
		return memory()
	}
	return nil, fmt.Errorf("no order %q", verb)
}

// measured makes an answer.
func measured(ops, all int, d time.Duration) Values {
	return numbers(map[string]int64{"ops": int64(ops), "all": int64(all), "ns": d.Nanoseconds()})
}
