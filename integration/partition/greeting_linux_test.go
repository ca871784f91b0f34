package partition

import (
	"context"
	"net"
	"sync"
	"time"
)

// A greeted connection reports the first answer on it: a server has attached the
// session. The client may still wait then until the server answers more.
type greeted struct {
	net.Conn
	once sync.Once
	tell func(at time.Time)
}

// dial opens a connection that is reported.
func dial(tell func(at time.Time)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &greeted{Conn: conn, tell: tell}, nil
	}
}

func (c *greeted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.once.Do(func() { c.tell(time.Now()) })
	}
	return n, err
}
