package queue

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHolderRoundTrip(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"", "nightly backup", `"quoted" \ and <html>`, "ünïcode 名", "\x00\xff"} {
		h := self(who)
		before := time.Now().Add(-time.Millisecond)
		got := ParseHolder(h.encodeNow())
		require.False(t, got.Since.Before(before.Truncate(time.Millisecond)))
		require.WithinDuration(t, time.Now(), got.Since, time.Minute)
		require.Equal(t, time.UTC, got.Since.Location())
		require.Equal(t, h.PID, got.PID)
		require.Equal(t, h.Host, got.Host)
		if who != "" && who != "\x00\xff" {
			require.Equal(t, who, got.Who)
		}
		require.NotEmpty(t, got.Who)
	}
	require.Equal(t, filepath.Base(os.Args[0]), self("").Who, "the program's name without its directory")
}

// What other clients write makes no holder up.
func TestParseHolderOfOthers(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"", "10.0.0.1", "\x0a\x00\x00\x01", "null", "true", "17", `"name"`, "[]", "{}", "{", `{"who":1}`, `{"pid":"1"}`,
		`{"since":"yesterday"}`, `{"pid":1e99}`, "__REVOKE__", "\xff\xfe", `{"other":"fields"}`,
		`{"since":"2026-01-02T03:04:05Z"}`,
	} {
		require.Zero(t, ParseHolder([]byte(data)), "%q", data)
	}
	require.Zero(t, ParseHolder(nil))
	require.Equal(t, Holder{Who: "x"}, ParseHolder([]byte(`{"who":"x","unknown":[1,2]}`)))
}

func FuzzParseHolder(f *testing.F) {
	f.Add([]byte(`{"who":"x","pid":1,"since":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte{10, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		h := ParseHolder(data)
		if (h == Holder{}) != (h.String() == "") {
			t.Fatalf("%+v is described as %q", h, h.String())
		}
	})
}

func TestHolderString(t *testing.T) {
	t.Parallel()
	require.Empty(t, Holder{}.String())
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, "backup (db1, pid 7, since 2026-01-02T03:04:05Z)", Holder{"backup", "db1", 7, since}.String())
	require.Equal(t, "backup (db1, pid 7)", Holder{Who: "backup", Host: "db1", PID: 7}.String())
}

func TestTimeoutErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("no server")
	holder := Holder{Who: "backup", Host: "db1", PID: 7}
	cases := map[string]*TimeoutError{
		"/a: not acquired in time":                                                  {Path: "/a", Ahead: -1},
		"/a: not acquired in time: waited 1.5s":                                     {Path: "/a", Ahead: -1, Waited: 1500 * time.Millisecond},
		"/a: not acquired in time: waited 2s, 3 ahead, held by node x":              {Path: "/a", Ahead: 3, Waited: 2 * time.Second, Head: "x"},
		"/a: not acquired in time: waited 2s, 3 ahead, held by backup (db1, pid 7)": {Path: "/a", Ahead: 3, Waited: 2 * time.Second, Head: "x", Holder: holder},
		"/a: not acquired in time: waited 2s; last failure: no server":              {Path: "/a", Ahead: -1, Waited: 2 * time.Second, Err: cause},
		"/a: not acquired in time, 1 ahead, held by node _c_0-lock-0000000000":      {Path: "/a", Ahead: 1, Head: "_c_0-lock-0000000000"},
	}
	for want, err := range cases {
		require.Equal(t, want, err.Error())
		require.ErrorIs(t, err, ErrTimeout)
		require.Equal(t, err.Err != nil, errors.Is(err, cause))
	}
}
