// Package claudecode reads the session files of Claude Code: a tree of JSON lines.
// The package comment of sessionfile says what is made of them. It is for
// sessionfile/formats only.
package claudecode
