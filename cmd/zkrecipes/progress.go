package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// When a job that waits looks who is ahead. A look costs the servers a listing, and
// what changes is reported at most once per look.
const (
	// firstLook is when it begins to wait: what is free is granted before that.
	firstLook = 50 * time.Millisecond
	// shortestLook and longestLook bound the time between two looks, which grows.
	shortestLook = 10 * time.Second
	longestLook  = time.Minute
	// namesPerSecond is how many names all who wait in a queue may have listed in a
	// second. Each of n lists n names, so the time between looks grows with n squared.
	namesPerSecond = 100_000
	// redraw is how often the line on a terminal is written, which has a clock.
	redraw = time.Second
)

// A progress reports who is ahead, and for how long the job has waited.
type progress struct {
	glance
	start time.Time
	pause time.Duration // between the last two looks
	over  bool          // no look will show more

	seen string // what the last report was about; "" if there was none
	line string // of that, behind the time
}

// A finding is what a look has shown.
type finding struct {
	e     event
	about string // two findings with the same are not reported twice
	name  string // of what is waited for
	text  string
	short string // for a line of a terminal
}

// reporting acquires, and reports meanwhile who is ahead. It reports nothing after it
// has returned, and the acquire never waits for it.
func (j *job) reporting(ctx context.Context, w waitLimit, acquire func(context.Context) (heldLease, error)) (heldLease, error) {
	if j.quiet {
		return acquire(ctx)
	}
	p := &progress{glance: glance{job: j}, start: w.start}
	looks, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(looks)
	}()
	held, err := acquire(queue.OnJoined(ctx, p.joined))
	stop()
	<-done
	j.report.endLine()
	return held, err
}

// run looks until the context ends.
func (p *progress) run(ctx context.Context) {
	look := time.NewTimer(firstLook)
	defer look.Stop()
	clock := time.NewTicker(redraw)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			p.look(ctx)
			look.Reset(p.nextPause())
		case <-clock.C:
		}
		if ctx.Err() == nil {
			p.draw()
		}
	}
}

// nextPause is random, so that those who began to wait at the same moment do not look
// at the same moment.
func (p *progress) nextPause() time.Duration {
	p.pause = min(max(p.pause*3/2, shortestLook), longestLook)
	n := float64(p.listed)
	least := time.Duration(n * n / namesPerSecond * float64(time.Second))
	return time.Duration(float64(max(p.pause, least)) * (1 + rand.Float64()/4))
}

// look looks who is ahead, and reports it if that has changed. Without a connection it
// asks nothing, and if the answer fails it says nothing: the acquire will.
func (p *progress) look(ctx context.Context) {
	if p.over || p.client.Reachable() != nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	p.listed = 0
	var all, waits []listedQueue
	for _, c := range p.recipe.queues() {
		ahead, err := p.ahead(bounded, c)
		if err != nil {
			// The answer to the next look would be the same.
			p.over = errors.Is(err, framework.ErrNoAuth) || errors.Is(err, framework.ErrReplyTooLarge)
			return
		}
		q := listedQueue{c, ahead}
		if all = append(all, q); q.keepsWaiting() {
			waits = append(waits, q)
		}
	}
	var found *finding
	if len(waits) > 0 {
		found = p.describeWaiting(waits)
	} else {
		found = p.describeClosed(bounded, all)
	}
	if found != nil && found.about != p.seen && ctx.Err() == nil {
		p.tell(*found)
	}
}

// tell reports a finding: on a terminal in the line that draw writes.
func (p *progress) tell(f finding) {
	first := p.seen == ""
	p.waited, p.seen, p.line = true, f.about, f.short+": "+f.name
	if p.report.drawsLines() {
		return
	}
	waited := time.Since(p.start)
	f.e.Waited = seconds(waited)
	if first {
		p.report.info(f.e, "waiting for %s: %s", f.name, f.text)
	} else {
		p.report.info(f.e, "still waiting for %s after %v: %s", f.name, waited.Round(time.Second), f.text)
	}
}

// draw writes the line on a terminal, if there is one. Without a connection it is not
// known who is ahead.
func (p *progress) draw() {
	if p.seen == "" || !p.report.drawsLines() {
		return
	}
	line := p.line
	if p.client.Reachable() != nil {
		line = "no connection: " + p.report.name()
	}
	p.report.draw(fmt.Sprintf("waiting %v, %s", time.Since(p.start).Round(time.Second), line))
}

// keepsWaiting reports whether the job waits for those that are ahead in the queue. Of
// a semaphore some may have several permits each.
func (q listedQueue) keepsWaiting() bool {
	return q.mustWait(q.all) || slices.ContainsFunc(q.all, func(c lease.Contender) bool {
		name, ok := znode.Parse(c.Node, znode.Permits)
		return ok && name.Weight > 1
	})
}

// describeWaiting describes the queues in which clients are ahead, at least one.
func (p *progress) describeWaiting(queues []listedQueue) *finding {
	first := queues[0]
	e := event{Event: "waiting", Kind: first.kind, Ahead: len(first.all), Holder: newHolderJSON(first.all[0].Holder)}
	for _, q := range queues {
		e.Contended = append(e.Contended, q.path)
	}
	text := describeAhead(first.all)
	if first.isAnyStripe() {
		text = first.describeAll(first.all)
	}
	if len(p.paths) > 1 {
		text += fmt.Sprintf("; not free: %d of %d locks", len(queues), len(p.paths))
	}
	return &finding{
		e: e, name: first.name(), text: text, about: fmt.Sprint(len(first.all), first.all[0].Path, e.Contended),
		short: fmt.Sprintf("%d ahead, held by %s", len(first.all), nameHolderBriefly(first.all[0])),
	}
}

// describeClosed describes the first of the queues, in none of which a client is ahead,
// that is closed; nil if none is.
func (p *progress) describeClosed(ctx context.Context, queues []listedQueue) *finding {
	if p.lockDelay.value == 0 {
		return nil
	}
	for _, q := range queues {
		ended, err := p.endedAt(ctx, q.recipe)
		if err != nil || !q.keptOut(ended) {
			continue
		}
		e := event{
			Event: "closed", Kind: q.kind, Ahead: len(q.all), LockDelay: p.lockDelay.value.Seconds(), Holder: newHolderJSON(ended[0].Holder), Contended: []string{q.path},
		}
		return &finding{
			e: e, name: q.name(), text: describeClosed(p.lockDelay.value, ended), about: "closed after " + ended[0].Node,
			short: fmt.Sprintf("closed for %v after %s", p.lockDelay.value, describeEnded(ended[0].Ended)),
		}
	}
	return nil
}

// nameHolderBriefly is describeHolder without the time.
func nameHolderBriefly(c lease.Contender) string {
	c.Holder.Since = time.Time{}
	return describeHolder(c)
}
