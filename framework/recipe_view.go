package framework

import (
	"context"
	"io"
	"log/slog"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
)

// A recipeView is a client as recipes see it. It implements internal/kit.Kit, which
// documents the methods. It is one pointer, so that an interface holds it without an
// allocation.
type recipeView struct{ *Client }

func init() {
	bridge.Recipe = func(client any) any {
		c := client.(*Client)
		c.mustBeUsable()
		return recipeView{c}
	}
	bridge.Usable = func(client any) error { return client.(*Client).usable() }
	bridge.SetRandom = func(config any, random io.Reader) { config.(*Config).random = random }
}

// Within returns what a recipe uses in one session.
func (v recipeView) Within(s *Session) *Client {
	plain := !v.once && v.failing == nil
	if view := s.view.Load(); plain && view != nil && view.core == v.core && view.prefix == v.prefix {
		return view
	}
	view := *v.Client
	view.pinned, view.recipe = s, true
	if plain {
		s.view.Store(&view)
	}
	return &view
}

// Once repeats nothing.
func (v recipeView) Once() *Client {
	view := *v.Client
	view.once = true
	return &view
}

// Reporting reports attempts that failed.
func (v recipeView) Reporting(failed func(err error)) *Client {
	view := *v.Client
	view.failing = failed
	return &view
}

// SameClient compares what two views share.
func (v recipeView) SameClient(other *Client) bool { return v.core == other.core }

// StopOnSuspend reports the setting of that name.
func (v recipeView) StopOnSuspend() bool { return v.core.cfg.StopOnSuspend }

// MaxReplyBytes returns the setting of that name.
func (v recipeView) MaxReplyBytes() int { return v.core.cfg.MaxReplyBytes }

// Logger returns the one of the configuration.
func (v recipeView) Logger() *slog.Logger { return v.core.cfg.Logger }

// OnClose has a listener told when Close begins.
func (v recipeView) OnClose(l *bridge.CloseListener) { v.core.closing.listen(l) }

// OffClose forgets it.
func (v recipeView) OffClose(l *bridge.CloseListener) { v.core.closing.forget(l) }

// DeleteInBackground removes a node without waiting for anything.
func (v recipeView) DeleteInBackground(path string) { v.deleteInBackground(path) }

// Gone records that a node is deleted.
func (v recipeView) Gone(path string) { v.pinned.gone(v.full(path)) }

// GoHolding runs what looks after something that is held in a session.
func (v recipeView) GoHolding(s *Session, end func(), f func(ctx context.Context)) bool {
	return s.goHolding(end, f)
}

// Kept returns what a session, or the client, keeps under a key.
func (v recipeView) Kept(s *Session, key any, make func() any) any {
	if s == nil {
		return v.core.kept.get(key, make)
	}
	return s.kept.get(key, make)
}

// OnDeleted tells which children of a node are deleted, or about to be.
func (v recipeView) OnDeleted(s *Session, parent string, listener bridge.DeletionListener) (stop func()) {
	return s.deletions.listen(v.full(parent), listener)
}
