// Package places knows where other programs keep their session files, lists the newest
// of them, and finds the files of a session's sub-agents and of its parent. Of a file
// it reads no more than the first lines, for the ids in them, and of a database the list of
// its sessions: what is in it, and whether it can be read, is sessionfile/formats' to say.
//
//	home, err := os.UserHomeDir()
//	for _, f := range places.Newest(os.Getenv, runtime.GOOS, home, 10) {
//		if f.Hint == "" {
//			s, err := formats.Open(f.Path)
//		}
//	}
//
// # What is known
//
// The places are those of the programs as of November 2026, each with the variables
// by which its program lets it be moved. All of them are the same on Linux, macOS and
// Windows below the home folder, but for the extensions of editors. Not looked
// at: the database in which GitHub Copilot's command line keeps a part of its
// sessions a second time, sessions on servers, and editors other than Visual
// Studio Code and its builds.
package places
