package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// How the work of a term has ended.
const (
	ended  = "ended" // before another could lead
	lost   = "lost"  // late perhaps: the machine may have stood still meanwhile
	killed = "killed"
)

// A term is what is known of one.
type term struct {
	id    string // of the instance
	token lease.Token
	began time.Time
	over  string // how, "" while it is not
	jobs  int
	// beside says that another began before this one was over.
	beside bool
}

// A board is where instances report what they do, and so what they do it to: it refuses
// those whose token is older than the newest.
type board struct {
	example.State // guards what follows
	terms         []*term
	dead          map[string]bool // ids of killed instances
	outside       int             // jobs of a term that had ended
	refused       int             // what came with an old token
}

func newBoard() *board { return &board{dead: map[string]bool{}} }

// ServeHTTP takes the reports.
func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(r.FormValue("token"), 10, 64)
	if err == nil {
		id, token := r.FormValue("id"), lease.Token(n)
		b.Change(func() {
			switch {
			case b.dead[id]:
				err = errors.New("this instance was killed")
			case r.URL.Path == "/begin":
				err = b.begin(id, token)
			case r.URL.Path == "/job":
				err = b.job(token)
			case r.URL.Path == "/end":
				err = b.end(token, r.FormValue("how"))
			default:
				err = errors.New("not a report")
			}
		})
	}
	if err == nil {
		return // with 200
	}
	http.Error(w, err.Error(), http.StatusConflict)
}

func (b *board) begin(id string, token lease.Token) error {
	if err := b.check(token); err != nil {
		return err
	}
	for _, t := range b.terms {
		t.beside = t.beside || t.over == ""
	}
	b.terms = append(b.terms, &term{id: id, token: token, began: time.Now()})
	return nil
}

func (b *board) job(token lease.Token) error {
	t := b.term(token)
	if t == nil || t.over != "" {
		b.outside++
		return fmt.Errorf("token %v is not that of a term", token)
	}
	if err := b.check(token); err != nil {
		return err
	}
	t.jobs++
	return nil
}

func (b *board) end(token lease.Token, how string) error {
	t := b.term(token)
	if t == nil || t.over != "" {
		return fmt.Errorf("token %v is not that of a term", token)
	}
	t.over = how
	return nil
}

// check refuses a token that is older than the newest.
func (b *board) check(token lease.Token) error {
	if newest := b.newest(); token < newest {
		b.refused++
		return fmt.Errorf("token %v is older than %v", token, newest)
	}
	return nil
}

func (b *board) newest() lease.Token {
	if len(b.terms) == 0 {
		return 0
	}
	return b.terms[len(b.terms)-1].token
}

func (b *board) term(token lease.Token) *term {
	for _, t := range b.terms {
		if t.token == token {
			return t
		}
	}
	return nil
}

// leads returns the present term, nil if there is none.
func (b *board) leads() *term {
	if len(b.terms) == 0 || b.terms[len(b.terms)-1].over != "" {
		return nil
	}
	return b.terms[len(b.terms)-1]
}

// bury notes that an instance was killed: what it may still have reported does not
// count.
func (b *board) bury(id string) {
	b.dead[id] = true
	for _, t := range b.terms {
		if t.id == id && t.over == "" {
			t.over = killed
		}
	}
}
