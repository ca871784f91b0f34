package main

import (
	"errors"
	"strconv"
	"time"
)

// An option is the value of a flag, and whether the flag was given: a value that was
// not given differs from one that is zero.
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

var (
	errNotDuration = errors.New("not a length of time: write a number with a unit, such as 500ms, 30s or 5m")
	errNegative    = errors.New("must not be negative")
	errNotNumber   = errors.New("not a whole number, or too large")
	errNotBool     = errors.New("neither true nor false")
)

// parseText takes text as it is.
func parseText(text string) (string, error) { return text, nil }

// parseNumber reads a whole number.
func parseNumber(text string) (int, error) {
	n, err := strconv.ParseInt(text, 0, strconv.IntSize)
	if err != nil {
		return 0, errNotNumber
	}
	return int(n), nil
}

// parseDuration reads a length of time that is not negative.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errNotDuration
	case d < 0:
		return 0, errNegative
	}
	return d, nil
}
