package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	keyTime = 30 * time.Second // a program may ask somebody for a password
	mostKey = 16 << 10         // bytes; tokens of sign-on systems have some thousand
)

// keys finds the key of one provider, and remembers what a program printed.
type keys struct {
	p   Provider
	env func(string) string
	// turn holds one value, which who looks for a key takes: a channel and not a mutex, so
	// that nobody waits longer than its context.
	turn    chan struct{}
	printed map[string]Secret // by program and arguments
}

// A found key.
type found struct {
	auth   Auth
	key    Secret
	kept   bool   // a program printed it for an earlier request
	source string // the index of printed; empty if no program printed it
}

func newKeys(p Provider, env func(string) string) *keys {
	k := &keys{p: p, env: env, turn: make(chan struct{}, 1), printed: map[string]Secret{}}
	k.turn <- struct{}{}
	return k
}

// find returns the first key that is there; a zero one if there is none and none is needed.
func (k *keys) find(ctx context.Context) (found, error) {
	missing := &NoKeyError{Provider: k.p.Name}
	for _, c := range k.p.Credentials {
		f := found{auth: c.Auth, key: c.Key}
		switch {
		case len(c.Command) > 0:
			return k.command(ctx, c)
		case c.Env != "":
			missing.Env = append(missing.Env, c.Env)
			f.key = NewSecret(strings.TrimSpace(k.env(c.Env)))
		}
		if f.key.IsZero() {
			continue
		}
		if err := checkKey(f.key.Reveal()); err != nil {
			return found{}, &NoKeyError{Provider: k.p.Name, Env: []string{c.Env}, Err: err}
		}
		return f, nil
	}
	if k.p.KeyOptional || len(k.p.Credentials) == 0 {
		return found{}, nil
	}
	return found{}, missing
}

// command returns what the program of c prints, now or for an earlier request.
func (k *keys) command(ctx context.Context, c Credential) (found, error) {
	select {
	case <-k.turn:
	case <-ctx.Done():
		return found{}, context.Cause(ctx)
	}
	defer func() { k.turn <- struct{}{} }()
	f := found{auth: c.Auth, source: strings.Join(c.Command, "\x00")}
	if f.key, f.kept = k.printed[f.source]; f.kept {
		return f, nil
	}
	text, err := k.run(ctx, c.Command)
	if err == nil {
		err = checkKey(text)
	}
	if ctx.Err() != nil {
		return found{}, context.Cause(ctx)
	}
	if err != nil {
		return found{}, &NoKeyError{Provider: k.p.Name, Program: filepath.Base(c.Command[0]), Err: err}
	}
	f.key = NewSecret(text)
	k.printed[f.source] = f.key
	return f, nil
}

// forget drops a key that the provider refused, so that the program is asked again. It
// reports whether that could help: whether the key was an old one.
func (k *keys) forget(f found) bool {
	if !f.kept {
		return false
	}
	<-k.turn
	defer func() { k.turn <- struct{}{} }()
	if k.printed[f.source].Reveal() == f.key.Reveal() { // nobody has asked again since
		delete(k.printed, f.source)
	}
	return true
}

// run runs a program and returns what it prints, without white space around it. Of what
// it complains the error has the first line, without keys.
func (k *keys) run(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	var out, complaint limited
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.WaitDelay = time.Second // for what the program left running
	err := cmd.Run()
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("want a key within %v, got none", keyTime)
	case err != nil:
		return "", errors.New(err.Error() + prefixed(": ", k.complaint(&complaint, &out)))
	case out.full:
		return "", fmt.Errorf("want a key of at most %d bytes, got more", mostKey)
	}
	return string(bytes.TrimSpace(out.data)), nil
}

// complaint returns the first line that a program complained, in short, without the keys
// that are known: what it printed as one, and those in the environment.
func (k *keys) complaint(errs, out *limited) string {
	const most = 200
	line, _, _ := bytes.Cut(bytes.TrimSpace(errs.data), []byte("\n"))
	text := strings.ToValidUTF8(string(line), "")
	known := strings.Fields(string(out.data))
	for _, p := range append(slices.Clone(providers), k.p) {
		for _, c := range p.Credentials {
			if c.Env != "" {
				known = append(known, strings.TrimSpace(k.env(c.Env)))
			}
			known = append(known, c.Key.Reveal())
		}
	}
	for _, s := range k.printed {
		known = append(known, s.Reveal())
	}
	text = newMask(known...).text(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// checkKey refuses what cannot stand in a header. It does not repeat it.
func checkKey(text string) error {
	switch {
	case text == "":
		return errors.New("want a key, got nothing")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("want a key of one line of printable ASCII without spaces, got another text")
	}
	return nil
}

// limited keeps the first bytes that are written to it, and drops the rest.
type limited struct {
	data []byte
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), mostKey-len(l.data))
	l.data = append(l.data, p[:n]...)
	l.full = l.full || n < len(p)
	return len(p), nil
}
