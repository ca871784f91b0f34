package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// A call is one that tries to have a run recorded.
type call struct {
	name   string
	step   jobStep
	token  lease.Token    // of its lease, 0 if it got none
	also   []framework.Op // what it changes with the record
	itself bool           // its work has recorded the run
}

// made is a record that was made.
type made struct {
	name  string
	token lease.Token
	czxid int64
	at    time.Time // by the clocks of the servers
	gone  bool      // it was removed
	freed bool      // by an operator, who may have it done again
}

// A judge sees the server after each call, and knows what each call returned:
//
//	P1  a tick is recorded at most once; a key again after the retention at the
//	    earliest, by the clocks of the servers; no recorded run is begun
//	P2  each run is recorded in the end, and old records go
//	P3  a call that succeeds has its run recorded; one that fails, and knows its
//	    outcome, has recorded nothing
//	P4  what a run changes with its record happens when the record is made
//	P5  one lease on a run is valid at a time, and tokens grow
//	P6  no node, session, watch or goroutine is left
type judge struct {
	r       *jobRun
	ahead   time.Duration // of the present leader's clock
	clock   time.Time     // the latest that any leader has had
	swept   time.Time
	all     []*made
	present map[string]*made
	effects map[string]bool
	carry   map[lease.Token]bool  // whose record is made with an effect
	failed  map[lease.Token]error // what calls returned that must not have made a record
}

func newJudge(r *jobRun) *judge {
	return &judge{r: r, present: map[string]*made{}, effects: map[string]bool{}, carry: map[lease.Token]bool{}, failed: map[lease.Token]error{}}
}

// setClock sets how far the leader's clock is ahead.
func (j *judge) setClock(ahead time.Duration) {
	j.r.server.SetClock(ahead)
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	j.ahead = ahead
}

// look sees what the last call has changed.
func (j *judge) look() {
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	if now := time.Now().Add(j.ahead); now.After(j.clock) {
		j.clock = now
	}
	const records = path + "/" + znode.RecordsDir
	info, _ := j.r.server.Node(records)
	swept, ok := znode.ParseSwept(info.Data)
	if !ok || swept.Before(j.swept) {
		j.r.brokenLocked("P1: swept up to %v, and then %q", j.swept, info.Data)
	}
	j.swept = swept
	names := j.r.server.Children(records)
	for name, m := range j.present {
		if now, ok := j.r.server.Node(records + "/" + name); !ok || now.Czxid != m.czxid {
			j.removed(m)
		}
	}
	var newest *made
	for _, name := range names {
		if j.present[name] == nil {
			info, _ := j.r.server.Node(records + "/" + name)
			newest = j.record(name, info.Czxid, info.Data)
		}
	}
	j.lookAtEffects(newest)
}

// record records a new record.
func (j *judge) record(name string, czxid int64, data []byte) *made {
	var stored once.Record
	_ = json.Unmarshal(data, &stored)
	// The clock of a server counts milliseconds.
	m := &made{name: name, token: stored.Token, czxid: czxid, at: time.Now().Add(j.ahead).Truncate(time.Millisecond)}
	_, tick, _ := znode.ParseRun(name)
	for _, other := range j.all {
		switch {
		case other.name != name, other.freed:
		case !other.gone, !tick.IsZero():
			j.r.brokenLocked("P1: %s was recorded twice, by %d and %d", name, other.token, m.token)
		case j.clock.Sub(other.at) < j.r.plan.shortest():
			j.r.brokenLocked("P1: %s was recorded again after %v", name, j.clock.Sub(other.at))
		}
	}
	j.all, j.present[name] = append(j.all, m), m
	return m
}

// removed records that a record was removed.
func (j *judge) removed(m *made) {
	delete(j.present, m.name)
	m.gone, m.freed = true, j.r.evicted[path+"/"+znode.RecordsDir+"/"+m.name] != 0
	_, tick, _ := znode.ParseRun(m.name)
	switch {
	case m.freed:
		delete(j.r.evicted, path+"/"+znode.RecordsDir+"/"+m.name)
	case !tick.IsZero() && tick.After(j.swept):
		j.r.brokenLocked("P1: the record of %s was removed, and records are swept up to %v", m.name, j.swept)
	case tick.IsZero() && j.clock.Sub(m.at) < j.r.plan.shortest():
		j.r.brokenLocked("P1: the record of %s was removed after %v", m.name, j.clock.Sub(m.at))
	}
}

// lookAtEffects checks that effects come with the newest record, if any.
func (j *judge) lookAtEffects(newest *made) {
	found := false
	for _, node := range j.r.server.Children(effects) {
		if j.effects[node] {
			continue
		}
		j.effects[node] = true
		info, _ := j.r.server.Node(effects + "/" + node)
		token, name, _ := strings.Cut(string(info.Data), " ")
		if newest == nil || name != newest.name || token != fmt.Sprint(int64(newest.token)) || info.Czxid != newest.czxid {
			j.r.brokenLocked("P4: the effect of %s and token %s was made without its record", name, token)
		}
		found = true
	}
	if newest != nil && j.carry[newest.token] && !found {
		j.r.brokenLocked("P4: %s was recorded without its effect", newest.name)
	}
	if newest != nil {
		// Do records the run again, which does something if an operator was faster.
		j.carry[newest.token] = false
	}
}

// carries tells that the call makes its record with an effect.
func (j *judge) carries(c *call) {
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	j.carry[c.token] = true
}

// returned checks what a call returned.
func (j *judge) returned(c *call, err error) {
	j.r.server.Settle()
	j.look()
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	switch {
	case err == nil && c.step.Way != wayLock:
		if !slices.ContainsFunc(j.all, func(m *made) bool { return m.name == c.name }) {
			j.r.brokenLocked("P3: a call returned nil, and %s is not recorded", c.name)
		}
	case errors.Is(err, once.ErrForgotten) && c.step.Tick.After(j.swept):
		j.r.brokenLocked("P3: %s is said to be forgotten, and records are swept up to %v", c.name, j.swept)
	}
	lostAfterwards := c.itself && errors.Is(err, lease.ErrLost) // and the servers did not say that the record exists
	if c.token != 0 && (err != nil || c.step.Way == wayLock) && !errors.Is(err, framework.ErrUnknownOutcome) && !lostAfterwards {
		j.failed[c.token] = err
	}
}

// conclude checks what can be known only in the end.
func (j *judge) conclude() {
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	for _, m := range j.all {
		if err, ok := j.failed[m.token]; ok {
			j.r.brokenLocked("P3: %s was recorded by a call that returned %v", m.name, err)
		}
	}
}
