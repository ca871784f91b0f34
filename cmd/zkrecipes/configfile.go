package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// maxConfig is more than a file of settings has.
const maxConfig = 1 << 20

// readConfig reads a file of NAME=value lines. What it accepts means the same to
// systemd as an EnvironmentFile. Errors show no values: one may be a secret.
func readConfig(name string) ([]variable, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, withoutName(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, withoutName(err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	switch {
	case err != nil:
		return nil, withoutName(err)
	case len(text) > maxConfig:
		return nil, errors.New("too large for a file of settings")
	}
	all, err := parseConfig(name, string(text))
	if slices.ContainsFunc(all, func(v variable) bool { return v.name == envAuth }) {
		if err := checkPrivate(name, info); err != nil { // first: it is more urgent than a mistake in a line
			return nil, err
		}
	}
	return all, err
}

var isVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// parseConfig returns the variables of a file that have a value, with an error also
// those in front of it.
func parseConfig(file, text string) (all []variable, err error) {
	set := map[string]int{} // in which line
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		at := fmt.Sprintf("%s:%d", file, n)
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, hasValue := strings.Cut(line, "=")
		name = strings.TrimRight(name, " \t")
		switch {
		case !hasValue || !isVariable(name): // it is not shown, as it may be a secret
			return all, fmt.Errorf("%s: not NAME=value", at)
		case !variable{name: name}.isForFile():
			return all, fmt.Errorf("%s: %s cannot be set in a file", at, name)
		case set[name] > 0:
			return all, fmt.Errorf("%s: %s is set in line %d already", at, name, set[name])
		}
		set[name] = n
		value, err := unquote(strings.TrimLeft(value, " \t"))
		if err != nil {
			return all, fmt.Errorf("%s: %s: %w", at, name, err)
		}
		if value != "" {
			all = append(all, variable{name, value, at + ": " + name})
		}
	}
	return all, nil
}

// unquote removes the quotes around a value. What systemd would read in another way
// than as it stands there is refused.
func unquote(value string) (string, error) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return checkValue(value, false)
	}
	inner := value[1:]
	if end := strings.IndexByte(inner, value[0]); end < 0 || end != len(inner)-1 {
		return "", errors.New("the quote that begins the value must end with it, on the same line")
	}
	return checkValue(inner[:len(inner)-1], value[0] == '\'')
}

func checkValue(value string, literal bool) (string, error) {
	switch {
	case strings.ContainsRune(value, 0):
		return "", errors.New("the value has a NUL character")
	case !literal && strings.Contains(value, `\`):
		return "", errors.New("a backslash is allowed between single quotes only")
	}
	return value, nil
}
