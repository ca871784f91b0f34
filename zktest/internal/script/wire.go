package script

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// waitLimit limits each exchange with a server. It is reached only if something is
// wrong.
const waitLimit = time.Minute

// Dialer connects to the server under test.
type Dialer func(ctx context.Context) (net.Conn, error)

// TCP returns a Dialer for an address.
func TCP(addr string) Dialer {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
}

// Conn is one session that sends raw frames. It is for use by one goroutine.
type Conn struct {
	nc       net.Conn
	ID       int64         // 0 if the session was refused as expired
	Password []byte        // needed to resume the session
	Timeout  time.Duration // as granted
	xid      int32
}

// Event is a watch event.
type Event struct {
	Type int32  // as on the wire
	Path string // as on the wire
}

// Reply is the answer to a request.
type Reply struct {
	Zxid   int64       // from the reply's header
	Code   zktest.Code // from the reply's header
	Body   []byte      // what follows the header
	Events []Event     // those that came before the reply
	Closed bool        // the server closed the connection without an answer
}

// Connect opens a session, or resumes one if id is not 0.
func Connect(ctx context.Context, dial Dialer, timeout time.Duration, id int64, password []byte, seen int64) (*Conn, error) {
	nc, err := dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	_ = nc.SetDeadline(time.Now().Add(waitLimit))
	e := jute.NewFrame(64)
	if password == nil {
		password = make([]byte, 16)
	}
	e.ConnectRequest(jute.ConnectRequest{
		LastZxidSeen: seen, TimeOut: int32(timeout.Milliseconds()), SessionID: id, Password: password, HasReadOnly: true,
	})
	c := &Conn{nc: nc}
	frame, err := c.exchange(e.Frame())
	if err != nil {
		_ = nc.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	d := jute.NewDecoder(frame)
	d.Int32()
	c.Timeout, c.ID, c.Password = time.Duration(d.Int32())*time.Millisecond, d.Int64(), d.Buffer()
	return c, d.Err()
}

func (c *Conn) exchange(frame []byte) ([]byte, error) {
	if _, err := c.nc.Write(frame); err != nil {
		return nil, err
	}
	return jute.ReadFrame(c.nc, 64<<20)
}

// Close drops the connection. The session lives on.
func (c *Conn) Close() error { return c.nc.Close() }

// Do sends a request and returns its reply.
func (c *Conn) Do(op zktest.Op, body func(e *jute.Encoder)) (Reply, error) {
	xid := int32(-2)
	switch op {
	case zktest.OpPing:
	case zktest.OpAuth:
		xid = -4
	case zktest.OpSetWatches, zktest.OpSetWatches2:
		xid = -8
	default:
		c.xid++
		xid = c.xid
	}
	_ = c.nc.SetDeadline(time.Now().Add(waitLimit))
	e := jute.NewFrame(256)
	e.Int32(xid)
	e.Int32(int32(op))
	if body != nil {
		body(e)
	}
	if _, err := c.nc.Write(e.Frame()); err != nil {
		return Reply{Closed: true}, nil //nolint:nilerr // a closed connection is an answer, not a failure of the script
	}
	return c.await(xid)
}

// await reads until the reply to a request.
func (c *Conn) await(xid int32) (r Reply, err error) {
	for {
		frame, err := jute.ReadFrame(c.nc, 64<<20)
		if err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // bare from net
				return r, fmt.Errorf("no answer to xid %d: %w", xid, err)
			}
			r.Closed = true
			return r, nil
		}
		d := jute.NewDecoder(frame)
		got := d.Int32()
		zxid, code := d.Int64(), zktest.Code(d.Int32())
		if got == -1 {
			event := Event{Type: d.Int32()}
			d.Int32()
			event.Path = d.String()
			r.Events = append(r.Events, event)
			continue
		}
		if d.Err() != nil || got != xid {
			return r, fmt.Errorf("reply to xid %d where %d was awaited", got, xid)
		}
		r.Zxid, r.Code, r.Body = zxid, code, d.Rest()
		return r, nil
	}
}
