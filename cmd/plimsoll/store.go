package main

import (
	"github.com/spf13/cobra"
)

func newStore(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the file in which sessions are kept",
		Long: `A store is a file with sessions: what was said, what Plimsoll took out of the view,
and why. Its commands can run while other programs use the file.`,
		Args: noSuchCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newStoreSessions(s), newStoreShow(s), newStoreResume(s), newStoreFork(s), newStoreRewind(s), newStoreExport(s), newStoreGet(s), newStoreGrep(s), newStoreSearch(s), newStoreStats(s), newStoreVerify(s), newStoreRemove(s), newStoreGC(s))
	return cmd
}
