package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An event is one line of "run --json", and of the same of "elect" and "hold". It has
// the fields of all kinds of events; eventKinds says which of them a kind has.
type event struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`
	Lock   string    `json:"lock"`
	Locks  []string  `json:"locks"`  // if there are several
	Stripe *int      `json:"stripe"` // with --stripes; nil if it is not known yet
	Key    string    `json:"key"`    // with --once
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	Cause  string    `json:"cause"` // of a failure: one of the causes in exit.go

	Ahead     int         `json:"ahead"`
	Holder    *holderJSON `json:"holder"`    // the head of the queue
	Contended []string    `json:"contended"` // the paths of such queues
	LockDelay float64     `json:"lock_delay_seconds"`

	Token   lease.Token   `json:"token"`
	Tokens  []lease.Token `json:"tokens"`
	Session string        `json:"session"`
	Timeout float64       `json:"session_timeout_seconds"`
	Asked   float64       `json:"asked_seconds"`
	Waited  float64       `json:"waited_seconds"`
	Held    float64       `json:"held_seconds"`

	TrustedUntil *time.Time    `json:"trusted_until"`
	KillAt       *time.Time    `json:"kill_at"`
	KeptUntil    *time.Time    `json:"kept_until"`
	Command      string        `json:"command"` // how it ended
	Processes    []processName `json:"processes"`
	ExitCode     *int          `json:"exit_code"`

	striped bool // it is of a job with --stripes
}

// A holderJSON is a lease.Holder in JSON.
type holderJSON struct {
	Who   string     `json:"who"`
	Host  string     `json:"host"`
	PID   int        `json:"pid"`
	Since *time.Time `json:"since"` // nil if it is missing or makes no sense
}

func newHolderJSON(h lease.Holder) *holderJSON {
	if h == (lease.Holder{}) {
		return nil
	}
	p := &holderJSON{Who: h.Who, Host: h.Host, PID: h.PID}
	// It is of another client's clock, or made up: JSON has no years before 0 or after
	// 9999.
	if since := h.Since.UTC(); !since.IsZero() && since.Year() >= 0 && since.Year() <= 9999 {
		p.Since = &since
	}
	return p
}

// MarshalJSON writes all fields, with times in the format of events.
func (p holderJSON) MarshalJSON() ([]byte, error) {
	type all holderJSON
	var since json.RawMessage // null
	if p.Since != nil {
		since = inMillis(*p.Since)
	}
	return json.Marshal(struct {
		all
		Since json.RawMessage `json:"since"`
	}{all(p), since})
}

// inMillis writes a time in JSON: RFC 3339, always with three digits of a second, so
// that all times have one length and sort as text.
func inMillis(t time.Time) json.RawMessage {
	return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`)
}

// An eventKind is the schema of one kind of event. Programs rely on it: kinds and
// fields may be added, but none is renamed or removed, or left out when it is zero.
type eventKind struct {
	name   string
	fields []string // besides commonFields, in the order in which they are written
	means  string
}

// commonFields are in all events.
var commonFields = []string{"time", "event", "lock"}

// locksField is in all events of a job with several locks, and fieldsOfSeveral are in
// some kinds of them, behind the others. With one lock there are none of these.
const locksField = "locks"

var fieldsOfSeveral = map[string][]string{"waiting": {"contended"}, "closed": {"contended"}, "acquired": {"tokens"}, "failed": {"contended"}}

// stripeField is in all events of a job with --stripes, keyField in those with --once.
const (
	stripeField = "stripe"
	keyField    = "key"
)

// fieldsOf are the fields of a kind of event, in the order in which they are written.
// more are those that all events of the job have besides the common ones.
func fieldsOf(name string, more ...string) []string {
	fields := append(slices.Clone(commonFields), more...)
	several := slices.Contains(more, locksField)
	if i := slices.IndexFunc(eventKinds, func(k eventKind) bool { return k.name == name }); i >= 0 {
		fields = append(fields, eventKinds[i].fields...)
	}
	if several {
		fields = append(fields, fieldsOfSeveral[name]...)
	}
	return fields
}

// eventKinds are all events, in the order of the help text.
var eventKinds = []eventKind{
	{"connecting", nil, "no server has answered for 3 s"},
	{
		"timeout granted",
		[]string{"session", "session_timeout_seconds", "asked_seconds"},
		"the servers grant another session timeout than asked for, or than before",
	},
	{"waiting", []string{"kind", "ahead", "holder", "waited_seconds"}, "other clients are ahead; again when that changes, but not more often than every 10 s"},
	{"closed", []string{"kind", "ahead", "holder", "lock_delay_seconds", "waited_seconds"}, "a client has held it that has ended without releasing it, and --lock-delay has not passed since then"},
	{"acquired", []string{"kind", "token", "session", "waited_seconds"}, "it is held, and the command is started; hold prints this event on standard output, too"},
	{"suspended", []string{"reason", "session"}, "no server answers; what is held stays held for now"},
	{"connected", []string{"session"}, "after that, a server answers"},
	{"session lost", []string{"reason", "session"}, "while waiting; it waits again in the next session"},
	{"revoked", []string{"reason"}, `a request to release it, which hold only reports; the reason is "ignored" with --ignore-revoke, else ""`},
	{"lost", []string{"reason", "trusted_until", "kill_at"}, "the command is being stopped; hold ends, and what is left is free when its session has ended"},
	{"unstoppable", []string{"reason"}, "processes of the command cannot be signalled, or not be listed"},
	{"remaining", []string{"command", "processes"}, "the command has ended, processes that it started have not"},
	{"killed", []string{"reason"}, "all processes are killed although nothing is lost: --kill-after is over, or the guardian was killed"},
	{"keeping", []string{"command", "kept_until"}, "the command has ended; it stays held for the rest of --min-hold"},
	{"releasing", []string{"command", "kept_until"}, "the command has ended, or hold ends, and no server has confirmed the release for a second: it waits for that, so that what is held need not stay taken"},
	{"stopped", []string{"held_seconds", "command", "exit_code"}, "after a loss, the command has ended, or hold ends"},
	{"unprotected", []string{"reason", "held_seconds", "command", "exit_code"}, "the command, or hold, had ended when the loss was noticed"},
	{"unrecorded", []string{"reason", "held_seconds", "command", "exit_code"}, "run --once only: the command has ended with 0, but that could not be recorded"},
	{"released", []string{"reason", "held_seconds", "command", "exit_code"}, `released; a reason says why it is free only later, or before --min-hold is over`},
	{"campaigning", []string{"kind"}, "elect only: it waits for another term"},
	{"recorded", []string{"reason", "token", "holder", "exit_code"}, "run --once only: the command does not run, because another one has finished this run"},
	{"failed", []string{"reason", "cause", "ahead", "holder", "exit_code", "lock_delay_seconds"}, "the command did not run"},
}

// eventFields are all fields of all events.
var eventFields = []struct{ name, kind, means string }{
	{"time", "string", "when this was written: RFC 3339, UTC, in milliseconds, like all times here"},
	{"event", "string", "one of the above"},
	{"lock", "string", "PATH, as given; of several the first"},
	{"locks", "array", "with several paths: each PATH, in the order of the command line"},
	{"stripe", "integer or null", "with --stripes: the number of the stripe, from 0 on; null while it waits for any of them"},
	{"key", "string", "with --once: KEY, or the tick: RFC 3339, UTC"},
	{"kind", "string", "what is held or waited for: mutex (also a stripe or a run), reader, writer, semaphore or leader"},
	{"reason", "string", "why, for people to read"},
	{"cause", "string", "held (by another client), closed (by --lock-delay), unreachable (no server answers), denied, usage, command (cannot be started), signal, lost (before it was started) or other"},
	{"ahead", "integer", "how many hold it or wait ahead, of any of some stripes at all of these; in failed 0 if that was not the reason"},
	{"holder", "object or null", `the first of them, or in closed, and in failed with that cause, who has ended without releasing it, or in recorded who has finished the run, and when, as it describes itself: {"who", "host", "pid", "since"}, with "", 0 or null for what is missing; null if all is missing`},
	{"contended", "array", "with several paths: each PATH at which other clients are ahead, or that is closed; ahead and holder are about the first of these"},
	{"lock_delay_seconds", "number", "--lock-delay; in failed 0 unless the cause is closed"},
	{"token", "integer", "the fencing token; with several paths that of the first; in recorded that of the other run"},
	{"tokens", "array", "with several paths: their tokens, in the order of locks"},
	{"session", "string", "the ZooKeeper session, in hexadecimal"},
	{"session_timeout_seconds", "number", "how long the servers keep a session that is silent"},
	{"asked_seconds", "number", "--session-timeout"},
	{"waited_seconds", "number", "how long the wait took, or has taken so far"},
	{"held_seconds", "number", "how long the command ran; of hold, how long it was held"},
	{"trusted_until", "string", "the time until which it is certainly held"},
	{"kill_at", "string", "the time at which the command gets KILL; of hold, by which all that relies on it must have ended"},
	{"kept_until", "string", "the time until which it stays held, because of --min-hold; in releasing about that until which it stays taken if no server answers, or later if servers elect a leader"},
	{"command", "string", `how it ended: "exit code N", or "killed by signal N (NAME)"; of hold ""`},
	{"processes", "array", `those that have not ended: {"pid", "name"}`},
	{"exit_code", "integer or null", "that of zkrecipes, in its last event; null if it goes on (elect, with another campaign)"},
}

// MarshalJSON writes exactly the fields that the event's kind has.
func (e event) MarshalJSON() ([]byte, error) {
	e.Processes = append([]processName{}, e.Processes...) // an array, also when it is empty
	e.Contended = append([]string{}, e.Contended...)
	type all event
	text, err := json.Marshal(all(e))
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	for name, t := range map[string]*time.Time{"time": &e.Time, "trusted_until": e.TrustedUntil, "kill_at": e.KillAt, "kept_until": e.KeptUntil} {
		if t != nil {
			values[name] = inMillis(*t)
		}
	}
	var out bytes.Buffer
	for i, name := range fieldsOf(e.Event, e.moreFields()...) {
		fmt.Fprintf(&out, "%c%q:%s", "{,"[min(i, 1)], name, values[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// moreFields are the fields that all events of its job have besides the common ones.
func (e event) moreFields() (more []string) {
	if len(e.Locks) > 1 {
		more = append(more, locksField)
	}
	if e.striped {
		more = append(more, stripeField)
	}
	if e.Key != "" {
		more = append(more, keyField)
	}
	return more
}

// helpEvents is the part of the help on "run" about --json. Those on "elect" and "hold"
// refer to it.
var helpEvents = describeEvents()

const helpWidth = 108

func describeEvents() string {
	var out strings.Builder
	out.WriteString(`Events of --json: one object per line. Each has "time", "event" and "lock", and the fields that are named
with it here, always all of them, also when they are 0, "", null or []. If run has several --lock, each event
has "locks" too, and some have further fields; with --stripes each has "stripe", with --once "key".
Events and fields may be added; none is renamed or removed, and none changes its type. Text of other clients
is escaped, as \u001b or \u202e: a decoder restores it, except bytes that are not UTF-8, which become \ufffd.
Mistakes in the flags are reported as plain text, with exit code 64.
`)
	for _, k := range eventKinds {
		text := k.means
		if len(k.fields) > 0 {
			text += `: "` + strings.Join(k.fields, `", "`) + `"`
		}
		if several := fieldsOfSeveral[k.name]; len(several) > 0 {
			text += `; with several paths "` + strings.Join(several, `", "`) + `"`
		}
		writeHanging(&out, 19, k.name, text)
	}
	out.WriteString("Their fields:\n")
	for _, f := range eventFields {
		writeHanging(&out, 27, f.name, f.kind+": "+f.means)
	}
	return out.String()
}

// writeHanging writes a term and, in a second column, a text that is wrapped at spaces.
func writeHanging(out *strings.Builder, column int, term, text string) {
	line := fmt.Sprintf("  %-*s", column-3, term)
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > helpWidth {
			out.WriteString(line + "\n")
			line = strings.Repeat(" ", column-1)
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
}
