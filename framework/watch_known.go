package framework

import (
	"context"
	"time"
)

// Known reads: data that a session has read once, with a watch, are known until the
// watch fires. The watch is idle meanwhile, so it is removed when the data were not
// asked for during a session timeout, and does not outlive its connection.

// GetKnown is Get that sends nothing while the data are known.
func (v recipeView) GetKnown(ctx context.Context, path string) ([]byte, Stat, error) {
	if v.pinned != nil {
		if data, stat, ok := v.pinned.watch.known(v.full(path), time.Now()); ok {
			return data, stat, nil
		}
	}
	f, err := dataReading.watchFor(ctx, v.Client, path, func() recipient { return nobody{} })
	if err != nil {
		return nil, Stat{}, err
	}
	f.own.remember(f.value, f.stat)
	f.own.drop()
	return f.value, f.stat, nil
}

// nobody is the recipient of a watch that tells only by being there.
type nobody struct{}

func (nobody) deliver(Event) {}

// known returns the data that were read with a watch which has not fired since.
func (t *watchTable) known(path string, now time.Time) (data []byte, stat Stat, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := t.entries[watchKey{dataWatch, path}]
	if entry == nil || !entry.known {
		return nil, Stat{}, false
	}
	if entry.idle != nil {
		entry.since = now
		t.idle.MoveToBack(entry.idle)
	}
	return entry.data, entry.stat, true
}

// remember keeps what the read of a waiter has shown, unless the watch has fired: then
// the waiter is not in the list any more.
func (w *waiter) remember(data []byte, stat Stat) {
	w.entry.table.mu.Lock()
	defer w.entry.table.mu.Unlock()
	if w.waits && w.entry.armed && w.round == w.entry.table.round {
		w.entry.data, w.entry.stat, w.entry.known = data, stat, true
	}
}
