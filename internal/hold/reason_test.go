package hold

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The goroutine that watches a hold may learn first that the znode is gone, although it
// went with the session.
func TestALostSessionIsNotADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, err := framework.Connect(t.Context(), framework.Config{Servers: []string{server.Addr()}, Dial: server.Dial("a"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		node, err := c.Create(t.Context(), "/slot", nil, framework.Ephemeral)
		if err != nil {
			t.Fatal(err)
		}
		session := c.Session()
		found := map[string]func(h *Hold){
			"an event":          func(h *Hold) { h.lose(lease.ErrDeleted) },
			"another's request": func(h *Hold) { h.MarkDeleted() },
			"a notice":          func(h *Hold) { h.doom(lease.ErrDeleted) },
			"another's node":    func(h *Hold) { h.lose(errReplaced) },
			"a refusal":         func(h *Hold) { h.lose(missing(framework.ErrNoAuth)) },
		}
		holds, table := map[string]*Hold{}, tableOf(c, session)
		table.begin.Do(func() { table.session = session })
		for name := range found {
			relied, err := kit.Of(c).Rely(t.Context(), "/slot")
			if err != nil {
				t.Fatal(err)
			}
			holds[name] = &Hold{terms: new(Terms), client: c.In(session), token: lease.Token(node.Czxid), reliance: relied, table: table}
			holds[name].entry.own.path = node.Path
		}
		server.ExpireSession(session.ID())
		<-session.Done()
		for name, h := range holds {
			found[name](h)
			if err := h.Loss(); !errors.Is(err, framework.ErrSessionExpired) || errors.Is(err, lease.ErrDeleted) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The connection of some holds breaks, and another begins over the next one before the
// table has run: it has those of both asked.
func TestABreakIsKnownWhenAHoldBeginsAfterIt(t *testing.T) {
	table := newTable().(*table)
	table.begin.Do(func() {})
	first, second := make(chan struct{}), make(chan struct{})
	h := &Hold{terms: new(Terms), suspended: first, table: table}
	if err := table.add(h, &Grant{}); err != nil {
		t.Fatal(err)
	}
	table.take(false)
	close(first)
	if err := table.add(&Hold{terms: new(Terms), suspended: second, table: table}, &Grant{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(table.take(false), h) {
		t.Error("the break is forgotten")
	}
}
