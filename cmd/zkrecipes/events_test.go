//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// promised is what programs rely on. Lines and fields may be added to it; to change or
// remove one breaks programs.
var promised = map[string]string{
	"connecting":      "",
	"timeout granted": "session session_timeout_seconds asked_seconds",
	"waiting":         "kind ahead holder waited_seconds",
	"closed":          "kind ahead holder lock_delay_seconds waited_seconds",
	"acquired":        "kind token session waited_seconds",
	"suspended":       "reason session",
	"connected":       "session",
	"session lost":    "reason session",
	"revoked":         "reason",
	"lost":            "reason trusted_until kill_at",
	"unstoppable":     "reason",
	"remaining":       "command processes",
	"killed":          "reason",
	"keeping":         "command kept_until",
	"releasing":       "command kept_until",
	"stopped":         "held_seconds command exit_code",
	"unprotected":     "reason held_seconds command exit_code",
	"released":        "reason held_seconds command exit_code",
	"campaigning":     "kind",
	"failed":          "reason cause ahead holder exit_code lock_delay_seconds",
	"recorded":        "reason token holder exit_code",
	"unrecorded":      "reason held_seconds command exit_code",
}

func TestPromisedEvents(t *testing.T) {
	for name, fields := range promised {
		kind := kindOf(name)
		require.NotNil(t, kind, name)
		require.Subset(t, slices.Concat(commonFields, kind.fields), strings.Fields("time event lock "+fields), name)
	}
}

// What a job with several locks adds.
func TestPromisedFieldsOfSeveralLocks(t *testing.T) {
	e := event{Event: "acquired", Lock: "/b", Locks: []string{"/b", "/a"}, Kind: "mutex", Token: 7, Tokens: []lease.Token{7, 5}}
	const begins = `{"time":"0001-01-01T00:00:00.000Z","event":`
	for _, test := range []struct{ event, want string }{
		{"acquired", `"kind":"mutex","token":7,"session":"","waited_seconds":0,"tokens":[7,5]`},
		{"waiting", `"kind":"mutex","ahead":0,"holder":null,"waited_seconds":0,"contended":[]`},
		{"failed", `"reason":"","cause":"","ahead":0,"holder":null,"exit_code":null,"lock_delay_seconds":0,"contended":[]`},
		{"closed", `"kind":"mutex","ahead":0,"holder":null,"lock_delay_seconds":0,"waited_seconds":0,"contended":[]`},
		{"connected", `"session":""`},
	} {
		e.Event = test.event
		text, err := quote.JSON(e, "")
		require.NoError(t, err)
		require.Equal(t, begins+`"`+test.event+`","lock":"/b","locks":["/b","/a"],`+test.want+"}", string(text))
	}
}

func kindOf(name string) *eventKind {
	for i := range eventKinds {
		if eventKinds[i].name == name {
			return &eventKinds[i]
		}
	}
	return nil
}

// fieldOf maps the names of fields in JSON to those in Go.
func fieldOf() map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[event]()) {
		if f.IsExported() {
			fields[f.Tag.Get("json")] = f
		}
	}
	return fields
}

// Kinds, fields and help agree.
func TestEventSchemaIsComplete(t *testing.T) {
	used := map[string]bool{}
	for _, k := range eventKinds {
		require.Equal(t, k, *kindOf(k.name), "there is another of that name")
		require.NotEmpty(t, k.means, k.name)
		for _, name := range slices.Concat(commonFields, k.fields) {
			used[name] = true
		}
		text, err := quote.JSON(event{Event: k.name, TrustedUntil: new(time.Time), KillAt: new(time.Time), KeptUntil: new(time.Time)}, "")
		require.NoError(t, err)
		checkEvent(t, text)
	}
	described := map[string]bool{}
	for _, f := range eventFields {
		require.False(t, described[f.name], "%s is described twice", f.name)
		described[f.name] = true
	}
	for name, fields := range fieldsOfSeveral {
		require.NotNil(t, kindOf(name))
		for _, field := range append(fields, locksField) {
			used[field] = true
		}
		text, err := quote.JSON(event{Event: name, Locks: []string{"/a", "/b"}, Tokens: []lease.Token{}}, "")
		require.NoError(t, err)
		checkEvent(t, text)
	}
	used[stripeField], used[keyField] = true, true // which the reporter adds to all
	fields := map[string]bool{}
	for name := range fieldOf() {
		fields[name] = true
	}
	require.Equal(t, fields, used, "and no field is without an event")
	require.Equal(t, fields, described)
	require.Contains(t, helpRun, helpEvents)
	for _, k := range eventKinds {
		require.Contains(t, helpRun, "\n  "+k.name+"  ")
	}
}

// checkEvent checks a line of --json: all fields of its kind, in the order and with the
// types of the schema, and no others.
func checkEvent(t *testing.T, line []byte) {
	t.Helper()
	var e struct{ Event string }
	assert.NoError(t, json.Unmarshal(line, &e))
	kind := kindOf(e.Event)
	if !assert.NotNil(t, kind, "%s", line) {
		return
	}
	var names []string
	in := json.NewDecoder(bytes.NewReader(line))
	_, _ = in.Token() // the brace
	for in.More() {
		name, err := in.Token()
		var value any
		if !assert.NoError(t, err) || !assert.NoError(t, in.Decode(&value)) {
			return
		}
		names = append(names, name.(string))
		assert.True(t, isOfType(name.(string), value), "%s in %s", name, line)
	}
	more := slices.DeleteFunc([]string{locksField, stripeField, keyField}, func(name string) bool { return !slices.Contains(names, name) })
	assert.Equal(t, fieldsOf(e.Event, more...), names, "%s", line)
}

func isOfType(name string, value any) bool {
	for _, f := range eventFields {
		if f.name != name {
			continue
		}
		number, isNumber := value.(float64)
		actual := map[string]bool{
			"null":    value == nil,
			"number":  isNumber,
			"integer": isNumber && number == float64(int64(number)),
		}
		switch value.(type) {
		case string:
			actual["string"] = true
		case map[string]any:
			actual["object"] = true
		case []any:
			actual["array"] = true
		}
		return slices.ContainsFunc(strings.Split(f.kind, " or "), func(kind string) bool { return actual[kind] })
	}
	return false
}

func TestFieldsAreKeptWhenTheyAreZero(t *testing.T) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 5e8, time.UTC)
	for _, test := range []struct {
		e    event
		want string
	}{
		{event{Event: "acquired", Kind: "mutex"}, `"kind":"mutex","token":0,"session":"","waited_seconds":0`},
		{event{Event: "waiting"}, `"kind":"","ahead":0,"holder":null,"waited_seconds":0`},
		{
			event{Event: "waiting", Holder: newHolderJSON(lease.Holder{Who: "me"})},
			`"kind":"","ahead":0,"holder":{"who":"me","host":"","pid":0,"since":null},"waited_seconds":0`,
		},
		{
			event{Event: "waiting", Holder: newHolderJSON(lease.Holder{PID: 1, Since: time.Date(2026, 1, 2, 3, 0, 0, 0, time.FixedZone("", 3600))})},
			`"kind":"","ahead":0,"holder":{"who":"","host":"","pid":1,"since":"2026-01-02T02:00:00.000Z"},"waited_seconds":0`,
		},
		{ // other clients may write any time
			event{Event: "waiting", Holder: newHolderJSON(lease.Holder{PID: 1, Since: time.Date(2026, 1, 2, 3, 0, 0, 123456789, time.UTC)})},
			`"kind":"","ahead":0,"holder":{"who":"","host":"","pid":1,"since":"2026-01-02T03:00:00.123Z"},"waited_seconds":0`,
		},
		{
			event{Event: "lost", TrustedUntil: &moment, KillAt: &moment},
			`"reason":"","trusted_until":"2026-01-02T03:04:05.500Z","kill_at":"2026-01-02T03:04:05.500Z"`,
		},
		{event{Event: "keeping", KeptUntil: &moment}, `"command":"","kept_until":"2026-01-02T03:04:05.500Z"`},
		{
			event{Event: "waiting", Holder: newHolderJSON(lease.Holder{PID: 1, Since: time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200))})},
			`"kind":"","ahead":0,"holder":{"who":"","host":"","pid":1,"since":null},"waited_seconds":0`,
		},
		{
			event{Event: "waiting", Holder: newHolderJSON(lease.Holder{PID: 1, Since: time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 7200))})},
			`"kind":"","ahead":0,"holder":{"who":"","host":"","pid":1,"since":null},"waited_seconds":0`,
		},
		{event{Event: "released", Command: "exit code 0", ExitCode: new(int)}, `"reason":"","held_seconds":0,"command":"exit code 0","exit_code":0`},
		{event{Event: "released"}, `"reason":"","held_seconds":0,"command":"","exit_code":null`},
		{event{Event: "remaining"}, `"command":"","processes":[]`},
		{
			event{Event: "remaining", Command: "exit code 3", Processes: []processName{{PID: 7, Name: "sh"}}},
			`"command":"exit code 3","processes":[{"pid":7,"name":"sh"}]`,
		},
	} {
		test.e.Lock = "/l"
		text, err := quote.JSON(test.e, "")
		require.NoError(t, err)
		require.Equal(t, `{"time":"0001-01-01T00:00:00.000Z","event":"`+test.e.Event+`","lock":"/l",`+test.want+"}", string(text))
		var back event
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, test.e.Event, back.Event)
	}
}

// Each event in the source has a kind of the schema, and only fields of that kind.
func TestEventsInTheSourceFitTheSchema(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	names := map[string]string{} // in JSON, of the fields
	for name, f := range fieldOf() {
		names[f.Name] = name
	}
	emitted := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt: // of a name that was not known when the event was made
				if target, ok := n.Lhs[0].(*ast.SelectorExpr); ok && target.Sel.Name == "Event" {
					if kind, ok := text(n.Rhs[0]); ok {
						require.NotNil(t, kindOf(kind), "%v", fset.Position(n.Pos()))
						emitted[kind] = true
					}
				}
			case *ast.CompositeLit: // of an event, which begins with its name
				if of, ok := n.Type.(*ast.Ident); !ok || of.Name != "event" {
					return true
				}
				var kind *eventKind
				for _, elt := range n.Elts {
					given := elt.(*ast.KeyValueExpr)
					field := names[given.Key.(*ast.Ident).Name]
					if kind == nil {
						name, _ := text(given.Value)
						kind = kindOf(name)
						require.Equal(t, "event", field, "%v: its name first", fset.Position(n.Pos()))
						require.NotNil(t, kind, "%v: %q", fset.Position(n.Pos()), name)
						emitted[name] = true
						continue
					}
					require.Contains(t, fieldsOf(kind.name, locksField), field, "%v: %s", fset.Position(given.Pos()), kind.name)
				}
			}
			return true
		})
	}
	for _, k := range eventKinds {
		require.True(t, emitted[k.name], "no code emits %q", k.name)
	}
}

// text returns the value of a string that is written out.
func text(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}
