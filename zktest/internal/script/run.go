package script

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// sessions is how many sessions a script has.
const sessions = 3

// runner runs one script.
type runner struct {
	dial    Dialer
	root    string
	conn    [sessions]*Conn
	base    int64 // transaction that made the root
	last    int64 // newest transaction seen
	ids     map[int64]string
	orphans []*Conn // closed by the server, while their sessions live on
}

// Run runs a script below a root of its own, which must not exist before and stays
// afterwards. It returns one line for each step. It returns an error if there are no
// answers: the server could not be reached or did not reply in time.
func Run(ctx context.Context, dial Dialer, root string, s Script) (lines []string, err error) {
	r := &runner{dial: dial, root: root, ids: map[int64]string{}}
	defer r.leave(ctx)
	for i := range r.conn {
		if r.conn[i], err = Connect(ctx, dial, 10*time.Second, 0, nil, 0); err != nil {
			return nil, err
		}
		r.ids[r.conn[i].ID] = fmt.Sprintf("s%d", i)
	}
	made, err := r.conn[0].Do(zktest.OpCreate, func(e *jute.Encoder) {
		Step{Op: zktest.OpCreate}.encode(e, r)
	})
	if err == nil && made.Code != zktest.OK {
		err = made.Code
	}
	if err != nil {
		return nil, fmt.Errorf("create the root: %w", err)
	}
	r.base, r.last = made.Zxid, made.Zxid
	for i, step := range s.Steps {
		line, err := r.step(ctx, step)
		if err != nil {
			return nil, fmt.Errorf("step %d, %v: %w", i, step, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// path returns a step's path as it is sent.
func (r *runner) path(p string) string {
	if raw, ok := strings.CutPrefix(p, "!"); ok {
		return raw
	}
	return r.root + p
}

// step runs one step and then reads the events it caused from every session.
func (r *runner) step(ctx context.Context, s Step) (string, error) {
	var b strings.Builder
	var err error
	if s.Op == Reconnect {
		err = r.reconnect(ctx, s.Session, &b)
	} else {
		err = r.request(s, &b)
	}
	if err != nil {
		return "", err
	}
	for i, c := range r.conn {
		if c == nil {
			continue
		}
		reply, err := c.Do(zktest.OpPing, nil)
		if err != nil {
			return "", err
		}
		r.writeEvents(&b, fmt.Sprintf(" | s%d hears", i), inOrder(s, reply.Events))
		if reply.Closed {
			fmt.Fprintf(&b, " | s%d is hung up on", i)
			r.orphans = append(r.orphans, c)
			r.drop(i)
		}
	}
	return b.String(), nil
}

// leave closes all sessions. A session that expired later would take a transaction
// number in the middle of a later script.
func (r *runner) leave(ctx context.Context) {
	for _, old := range r.orphans {
		if c, err := Connect(ctx, r.dial, 10*time.Second, old.ID, old.Password, 0); err == nil {
			_, _ = c.Do(zktest.OpClose, nil)
			_ = c.Close()
		}
	}
	for _, c := range r.conn {
		if c != nil {
			_, _ = c.Do(zktest.OpClose, nil)
			_ = c.Close()
		}
	}
}

func (r *runner) drop(i int) {
	_ = r.conn[i].Close()
	r.conn[i] = nil
}

// request sends a step's request.
func (r *runner) request(s Step, b *strings.Builder) error {
	c := r.conn[s.Session]
	if c == nil {
		b.WriteString("no connection")
		return nil
	}
	reply, err := c.Do(s.Op, func(e *jute.Encoder) { s.encode(e, r) })
	if err != nil {
		return err
	}
	r.writeEvents(b, "first hears", inOrder(s, reply.Events))
	if reply.Closed {
		b.WriteString("hung up")
		r.orphans = append(r.orphans, c)
		r.drop(s.Session)
		return nil
	}
	r.last = max(r.last, reply.Zxid)
	fmt.Fprintf(b, "%v zxid %s", reply.Code, r.zxid(reply.Zxid))
	if reply.Code == zktest.OK {
		r.writeBody(b, s.Op, jute.NewDecoder(reply.Body))
	} else if len(reply.Body) > 0 {
		fmt.Fprintf(b, " body %x", reply.Body)
	}
	if s.Op == zktest.OpClose {
		r.drop(s.Session)
	}
	return nil
}

// reconnect resumes a session on a new connection.
func (r *runner) reconnect(ctx context.Context, i int, b *strings.Builder) error {
	old := r.conn[i]
	if old == nil {
		b.WriteString("no connection")
		return nil
	}
	_ = old.Close()
	c, err := Connect(ctx, r.dial, 10*time.Second, old.ID, old.Password, r.last)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "resumed %t timeout %v", c.ID == old.ID, c.Timeout)
	r.conn[i] = c
	return nil
}

// zxid writes a transaction number relative to the start of the script.
func (r *runner) zxid(z int64) string {
	switch {
	case z == 0:
		return "zero"
	case z == -1:
		return "none"
	case z < r.base:
		return "old"
	}
	return fmt.Sprintf("+%d", z-r.base)
}

func (r *runner) owner(id int64) string {
	if id == 0 {
		return "-"
	}
	if name, ok := r.ids[id]; ok {
		return name
	}
	return "someone"
}

// local removes the script's root from a path.
func (r *runner) local(path string) string {
	if rest, ok := strings.CutPrefix(path, r.root); ok {
		return "~" + rest
	}
	return path
}

// inOrder sorts the events of a closing session, whose nodes are deleted in random
// order.
func inOrder(s Step, events []Event) []Event {
	if s.Op == zktest.OpClose {
		slices.SortFunc(events, func(a, b Event) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Type, b.Type))
		})
	}
	return events
}

func (r *runner) writeEvents(b *strings.Builder, intro string, events []Event) {
	if len(events) == 0 {
		return
	}
	b.WriteString(intro)
	for _, e := range events {
		fmt.Fprintf(b, " %d:%s", e.Type, r.local(e.Path))
	}
	if !strings.HasPrefix(intro, " ") {
		b.WriteString(" then ")
	}
}

// writeStat writes a Stat. Of the times it writes only whether they are equal.
func (r *runner) writeStat(b *strings.Builder, s jute.Stat) {
	fmt.Fprintf(b, " {c%s m%s p%s v%d cv%d av%d owner %s len %d kids %d",
		r.zxid(s.Czxid), r.zxid(s.Mzxid), r.zxid(s.Pzxid), s.Version, s.Cversion, s.Aversion,
		r.owner(s.EphemeralOwner), s.DataLength, s.NumChildren)
	if s.Mtime < s.Ctime {
		b.WriteString(" modified before it was created")
	}
	b.WriteString("}")
}

func (r *runner) writeNames(b *strings.Builder, names []string) {
	names = slices.Clone(names)
	for i := range names {
		names[i] = r.local(names[i])
	}
	slices.Sort(names) // the order is random
	fmt.Fprintf(b, " %q", names)
}
