// Package clienttest runs real coding agents from npm against the scripted model server
// (package scriptmodel), so that programs which this project did not write read what its
// codecs write. It has tests only.
//
// The agents are installed by scripts/clients, at pinned versions. The tests run when
// PLIMSOLL_CLIENTS names the folder that it installed into; without it they are skipped, on
// CI they fail.
//
//	scripts/clients /tmp/clients
//	PLIMSOLL_CLIENTS=/tmp/clients go test ./internal/clienttest
//
// Each agent runs in an empty home and an empty environment, in a git repository of one
// commit, speaks to loopback only, and is asked to write a file with its shell. It has done
// so if it exits with 0, the file is there, the result of its tool came to the server, the
// server found nothing to refuse in any request, the model's last words are in its output,
// and no process of it is left.
//
// Behind the proxy agents do two tasks that need more than the window of their model: one of
// many Steps, and one whose outputs it has to read back.
package clienttest
