package main

import (
	"errors"
	"time"
)

// An option is the value of a flag that can be told from one that was not given, which
// is zero.
type option[T any] struct {
	value T
	given bool // on the command line
}

// set is what package flag calls with the flag's text.
func (o *option[T]) set(parse func(text string) (T, error)) func(text string) error {
	return func(text string) (err error) {
		o.given = true
		o.value, err = parse(text)
		return err
	}
}

// asIs is for text.
func asIs(text string) (string, error) { return text, nil }

var (
	errNoDuration = errors.New("not a length of time: write a number with a unit, such as 500ms, 30s or 5m")
	errNegative   = errors.New("must not be negative")
)

// parseDuration is for a length of time that is not negative.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errNoDuration
	case d < 0:
		return 0, errNegative
	}
	return d, nil
}
