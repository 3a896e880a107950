// Package webtest looks at report pages with a real browser: that they draw what the
// data says, at three widths and in both themes, that a keyboard gets everywhere, that
// texts can be read, and that nothing is asked of anybody. It has no code of its own,
// only tests, and it is a module of its own, so that nobody who uses the library gets a
// browser driver into their module graph.
//
//	cd internal/webtest && go test ./...
//	PLIMSOLL_SHOTS=/tmp/shots go test ./...     # writes the pages and a picture of each
//
// Chromium is looked for under the usual names, or where PLIMSOLL_CHROMIUM says. Without
// it the tests are skipped, and fail where CI is set. With PLIMSOLL_CORPUS a recorded
// session is looked at too.
package webtest
