package contend

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// gozk is go-zookeeper's Lock.
type gozk struct {
	conn  *zk.Conn
	state bool // who holds looks at the state of the connection
	crowd
}

func openGozk(config Config) (system, error) {
	conn, err := dial(config.Server, config.Session)
	return &gozk{conn: conn, crowd: crowd{server: config.Server}}, err
}

func openGozkState(config Config) (system, error) {
	s, err := openGozk(config)
	if err == nil {
		s.(*gozk).state = true
	}
	return s, err
}

func (s *gozk) close() {
	s.conn.Close()
	s.crowd.close()
}

func (s *gozk) locker(kind, path string, _ int) (locker, error) {
	if kind != "mutex" && kind != "leader" {
		return nil, fmt.Errorf("go-zookeeper has no %s", kind)
	}
	l := zk.NewLock(s.conn, path, zk.WorldACL(zk.PermAll))
	return functions{l.Lock, l.Unlock}, nil
}

// keep can ask nothing: a Lock does not tell. Who looks at the connection instead stops
// when it is not connected, or has another session.
func (s *gozk) keep(path string) (held func() bool, err error) {
	session := s.conn.SessionID()
	err = zk.NewLock(s.conn, path, zk.WorldACL(zk.PermAll)).Lock()
	return func() bool {
		return !s.state || s.conn.State() == zk.StateHasSession && s.conn.SessionID() == session
	}, err
}

// functions are a locker.
type functions struct{ take, leave func() error }

func (f functions) acquire() error { return f.take() }
func (f functions) release() error { return f.leave() }

type silent struct{}

func (silent) Printf(string, ...any) {}

// dial returns a connection that has a session.
func dial(server string, timeout time.Duration) (*zk.Conn, error) {
	conn, events, err := zk.Connect([]string{server}, timeout, zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	limit := time.After(30 * time.Second)
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				go func() {
					for range events { // nothing else is done with them
					}
				}()
				return conn, nil
			}
		case <-limit:
			conn.Close()
			return nil, fmt.Errorf("no session at %s", server)
		}
	}
}

// A crowd counts the contenders of a path, over a connection of its own that is made
// when it is first needed.
type crowd struct {
	server string
	mu     sync.Mutex
	conn   *zk.Conn
}

func (c *crowd) queued(path string) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		if c.conn, err = dial(c.server, 10*time.Second); err != nil {
			return 0, err
		}
	}
	_, stat, err := c.conn.Exists(path)
	if errors.Is(err, zk.ErrNoNode) || stat == nil {
		return 0, err
	}
	return int(stat.NumChildren), err
}

func (c *crowd) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
	}
}
