package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// slowConnectNotice is when a message says that connecting takes long.
const slowConnectNotice = 3 * time.Second

// connect opens a session, and reports if that takes long.
func (j *job) connect(ctx context.Context, limit time.Duration) error {
	slow := time.AfterFunc(slowConnectNotice, func() {
		j.report.info(event{Event: "connecting"}, "no server has answered yet; giving up after %v", limit)
	})
	j.cfg.Observers = append(j.cfg.Observers, j.cleanups.observer())
	client, err := connect(ctx, j.cfg, limit)
	slow.Stop()
	if err != nil {
		return err
	}
	j.client = client
	if _, err := j.graceFor(client.Session().Timeout()); err != nil {
		return fmt.Errorf("the servers have changed the session timeout to %v: %w", client.Session().Timeout(), err)
	}
	j.reportTimeout(client.Session()) // reportConnection reports later ones
	j.watcher.Go(j.reportConnection)
	return nil
}

// await connects, unless that is done, and acquires. A signal that interrupts the wait
// ends ctx.
func (j *job) await(ctx context.Context, w waitLimit) error {
	if j.client == nil {
		if err := j.connect(ctx, w.forConnect()); err != nil {
			return err
		}
		var err error
		if j.recipe, err = j.newRecipe(j.client); err != nil {
			return err
		}
		j.report.stripe.Store(j.recipe.stripe)
	}
	return j.acquire(ctx, w)
}

// acquire acquires the recipe. A signal that interrupts the wait ends ctx.
func (j *job) acquire(ctx context.Context, w waitLimit) error {
	ctx = j.env.withinAncestors(ctx)
	if err := j.refuseOpenPath(ctx, w); err != nil {
		return err
	}
	acquired, err := j.acquireAnnounced(ctx, w)
	if err != nil {
		return j.explain(ctx, w, err)
	}
	// A lease that is still valid belongs to the present session.
	j.held, j.session, j.since = acquired, j.client.Session(), time.Now()
	if held, ok := acquired.(stripeLease); ok {
		j.report.stripe.Store(&held.number)
	}
	if err := j.refuseOpenPath(acquired.Context(), w.withFinalCheck()); err != nil {
		j.giveBack()
		return err
	}
	if err := acquired.Err(); err != nil {
		return fmt.Errorf("%s: %w", j.notBegun(), err)
	}
	j.phase.Store(holding)
	j.reportAcquired(j.since.Sub(w.start))
	return nil
}

// acquiredEvent is the event that it is held, after a wait.
func (j *job) acquiredEvent(waited time.Duration) event {
	tokens := j.held.Tokens()
	return event{Event: "acquired", Kind: j.recipe.kind, Token: tokens[0], Tokens: tokens, Session: hexSession(j.session.ID()), Waited: seconds(waited)}
}

// reportAcquired reports what is held, and after which wait.
func (j *job) reportAcquired(waited time.Duration) {
	tokens, e := j.held.Tokens(), j.acquiredEvent(waited)
	switch {
	case j.recipe.kind == lease.KindLeader: // one term of many
		j.report.info(e, "%s leading %s, token %v", clock(time.Now()), j.paths, tokens[0])
	case j.waited:
		j.report.info(e, "acquired %s after %v, %s", j.report.name(), waited.Round(time.Millisecond), describeTokens(tokens))
	default:
		j.report.info(e, "")
	}
}

// describeTokens names the tokens in a message.
func describeTokens(tokens []lease.Token) string {
	var all []string
	for _, token := range tokens {
		all = append(all, token.String())
	}
	if len(all) == 1 {
		return "token " + all[0]
	}
	return "tokens " + enumerate(all, "and")
}

// acquireAnnounced acquires; if it has to wait, it reports for which holder.
func (j *job) acquireAnnounced(ctx context.Context, w waitLimit) (heldLease, error) {
	atOnce, err := j.checkAncestors(ctx, w)
	if err != nil {
		return nil, err
	}
	if len(atOnce) > 0 {
		return j.acquireBeside(ctx, w, atOnce)
	}
	if w.try {
		return j.contend(ctx, w)
	}
	return j.reporting(ctx, w, func(ctx context.Context) (heldLease, error) { return j.contend(ctx, w) })
}

// contend acquires. Even a recipe that does not wait for other clients gives a server
// longer to answer than --try may take.
func (j *job) contend(ctx context.Context, w waitLimit) (heldLease, error) {
	if !w.try {
		return j.recipe.acquire(ctx, w.left())
	}
	// The lease depends on this context, so it must not end with the wait.
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(w.left(), func() { cancel(errUnanswered) })
	acquired, err := j.recipe.acquire(ctx, 0)
	if err != nil || timer.Stop() {
		return acquired, err
	}
	_ = acquired.ReleaseAsync() // granted too late: it has ended with the context
	return nil, errUnanswered
}

// probe returns an error unless the servers answer.
func (j *job) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, unanswered("no answer within another %v", listLimit))
	defer cancel()
	return j.client.Sync(ctx, j.paths[0])
}

// reportConnection reports broken and restored connections until the client is closed.
func (j *job) reportConnection() {
	broken := false
	for change := range j.client.States(context.Background()) {
		phase := j.phase.Load()
		if change.State == framework.Connected && phase != finished {
			j.reportTimeout(j.client.Session())
		}
		switch {
		case phase == finished:
		case change.State == framework.Suspended:
			broken = true
			consequence := ""
			if phase == holding {
				consequence = fmt.Sprintf("; %s while the %s is certain", j.goesOn(), j.what)
			}
			j.report.info(event{Event: "suspended", Reason: reasonOf(change), Session: hexSession(change.Session)},
				"%s %s%s", clock(change.At), because("connection broken", reasonOf(change)), consequence)
		case change.State == framework.Lost && phase == acquiring: // later the supervisor reports it
			broken = true
			j.report.info(event{Event: "session lost", Reason: reasonOf(change), Session: hexSession(change.Session)},
				"%s %s; trying again in a new session", clock(change.At), because("session lost", reasonOf(change)))
		case change.State == framework.Connected && broken:
			broken = false
			j.report.info(event{Event: "connected", Session: hexSession(change.Session)}, "%s connected again", clock(change.At))
		}
	}
}

// because joins what happened and why. Many reasons begin with what happened already.
func because(what, why string) string {
	if rest, ok := strings.CutPrefix(why, what); ok && (rest == "" || rest[0] == ':') {
		return why
	}
	return what + ": " + why
}

// reportTimeout reports that the servers have granted another session timeout than
// asked for, or than that of the session before.
func (j *job) reportTimeout(session *framework.Session) {
	granted, asked := session.Timeout(), j.sessionTimeout
	if j.granted == 0 {
		j.granted = asked
	}
	if granted == j.granted {
		return
	}
	j.granted = granted
	e := event{Event: "timeout granted", Session: hexSession(session.ID()), Timeout: seconds(granted), Asked: seconds(asked)}
	if granted == asked {
		j.report.info(e, "the servers grant a session timeout of %v now, as asked for", granted)
		return
	}
	j.report.info(e, "the servers grant a session timeout of %v instead of %v", granted, asked)
}

func reasonOf(change framework.StateChange) string {
	if change.Err == nil {
		return "no reason known"
	}
	return errorText(change.Err)
}
