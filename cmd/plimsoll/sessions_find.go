package main

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// sessionsHere returns the sessions of this machine, the newest first, each of a database by
// itself, without those of sub-agents.
func sessionsHere() ([]places.Found, error) {
	all, err := allSessions()
	return slices.DeleteFunc(all, func(f places.Found) bool { return f.Agent }), err
}

// allSessions is sessionsHere with those of sub-agents.
func allSessions() ([]places.Found, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var all []places.Found
	for _, f := range places.All(os.Getenv, runtime.GOOS, home) {
		all = append(all, sessionsOf(f)...)
	}
	slices.SortStableFunc(all, func(a, b places.Found) int { return b.Time.Compare(a.Time) })
	return all, nil
}

// sessionsOf returns the sessions of a file; the file itself if
// it is one session, or cannot be read.
func sessionsOf(f places.Found) []places.Found {
	if !f.Database {
		return []places.Found{f}
	}
	sessions, err := formats.Sessions(f.Path)
	if err == nil && sessions == nil {
		err = errors.New("not a database of sessions")
	}
	if err != nil {
		f.Hint = err.Error()
		return []places.Found{f}
	}
	var all []places.Found
	for _, s := range sessions {
		all = append(all, places.Found{Path: s.Path, Client: f.Client, Time: time.UnixMilli(s.Time), Size: f.Size, Agent: s.Parent != ""})
	}
	return all
}
