package contend

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Values are the named values of an order or an answer. They contain no blanks.
type Values map[string]string

// Int returns a number, 0 if there is none.
func (v Values) Int(key string) int {
	n, _ := strconv.Atoi(v[key])
	return n
}

// dwell is how long a holder is to hold.
func (v Values) dwell() time.Duration { return time.Duration(v.Int("dwell")) * time.Microsecond }

// Format returns an order or an answer as a line, without its end.
func Format(word string, v Values) string {
	line := word
	for _, key := range slices.Sorted(maps.Keys(v)) {
		line += " " + key + "=" + v[key]
	}
	return line
}

// Parse splits a line. An answer that begins with "error" becomes an error.
func Parse(line string) (word string, v Values, err error) {
	word, rest, _ := strings.Cut(line, " ")
	if word == "error" {
		return word, nil, errors.New(rest)
	}
	v = Values{}
	for field := range strings.FieldsSeq(rest) {
		key, value, found := strings.Cut(field, "=")
		if !found {
			return word, nil, fmt.Errorf("malformed line %q", line)
		}
		v[key] = value
	}
	return word, v, nil
}

// numbers makes Values of pairs of a key and a number.
func numbers[N int | int64](pairs map[string]N) Values {
	v := Values{}
	for key, n := range pairs {
		v[key] = fmt.Sprint(n)
	}
	return v
}
