package queue

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestHolderRoundTrip(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"", "nightly backup", `"quoted" \ and <html>`, "ünïcode 名", "\x00\xff"} {
		self := Self(who)
		h := self.Holder
		before := time.Now().Add(-time.Millisecond)
		data := self.Data(t.Context())
		got := ParseHolder(data)
		h.Since = got.Since
		same, err := json.Marshal(h)
		require.NoError(t, err)
		require.Equal(t, string(same), string(data), "as if it were encoded as a whole")
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
	require.Equal(t, filepath.Base(os.Args[0]), Self("").Holder.Who, "the program's name without its directory")
}

// What other clients write makes no holder up.
func TestParseHolderOfOtherClients(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"", "10.0.0.1", "\x0a\x00\x00\x01", "null", "true", "17", `"name"`, "[]", "{}", "{", `{"who":1}`, `{"pid":"1"}`,
		`{"since":"yesterday"}`, `{"pid":1e99}`, "__REVOKE__", "\xff\xfe", `{"other":"fields"}`,
		`{"since":"2026-01-02T03:04:05Z"}`,
	} {
		require.Zero(t, ParseHolder([]byte(data)), "%q", data)
	}
	require.Zero(t, ParseHolder(nil))
	require.Equal(t, lease.Holder{Who: "x"}, ParseHolder([]byte(`{"who":"x","unknown":[1,2]}`)))
}

func FuzzParseHolder(f *testing.F) {
	f.Add([]byte(`{"who":"x","pid":1,"since":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte{10, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		h := ParseHolder(data)
		if (h == lease.Holder{}) != (h.String() == "") {
			t.Fatalf("%+v is described as %q", h, h.String())
		}
	})
}
