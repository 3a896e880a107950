// Command plimsoll keeps LLM agents' conversations within the context window:
// it counts tokens, explains policies and replays recorded sessions offline.
//
// # What it prints
//
// Results go to standard output, everything else to standard error: an error as
// "plimsoll: what is wrong" without capitals and full stops, what can be done
// about it on a line "hint: ...". Tables are at most 120 columns wide, or as wide
// as the terminal, or as COLUMNS says where there is none: then what is longer is
// shortened as on a screen, and words of a report's own are explained at its end.
// Colour is only for terminals, and not where NO_COLOR is set; no meaning hangs on
// it. What comes from a file or from its name is printed with its control characters
// escaped.
//
// # Floors
//
// What is printed for people stands on floors of its own: internal/console has tables,
// charts, widths, looks; internal/reports, on it, the texts of inspect and replay. This
// package has the commands: their flags, what they read and call, and their JSON.
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one. What several
// commands need stands first; then come the commands, each with its own files, of which the one that
// is called after it is the last. Commands stand side by side: one that uses another's, as loop does a
// proxy, comes after it.
//
//	build.go             which version this is
//	streams.go           where a command reads and writes
//	errors.go            exit codes, and how an error is told
//	arguments.go         how many arguments, and what is said of others
//	help.go              help as wide as the screen
//	words.go             times, tokens and paragraphs in words
//	bar.go               how far it is
//	files.go             session files that are named
//	html.go              flags of a page, and where it is written
//	settings.go          what plimsoll.yaml states, and the catalog with it
//	catalog.go           models by name
//	prices.go            prices that are used and may be old
//	policy_load.go       policies by name or file
//	alive_unix.go        whether a process runs
//	alive_other.go       the same elsewhere
//	kin.go               sessions of which another file has a copy, and sub-agents
//	target.go            a model, and where and with which key it is asked
//	target_hint.go       what can be done where it refuses
//	sessions_brief.go    what is known of a session in short, kept between runs
//	sessions_find.go     the sessions on this machine
//	session_path.go      a session by its path, its id or none
//
//	version.go           version
//	man.go               man
//	count.go             count
//	convert.go           convert
//	models_show.go       models NAME
//	models.go            models
//	policy_explain.go    policy explain
//	policy.go            policy
//	config_text.go       settings in words
//	config_show.go       config show
//	config_check.go      config check
//	config.go            config
//	ask.go               ask
//	sessions_sum.go      sessions --by
//	sessions_print.go    sessions in lines, as CSV and JSON
//	sessions.go          sessions
//	statusline.go        statusline
//	store_open.go        the store of a command
//	store_text.go        store stats and verify
//	store_content.go     store get and grep
//	store_session.go     store sessions, show and remove
//	store_search.go      store search
//	store_take.go        store resume, fork and rewind
//	store_export.go      store export
//	store_gc.go          store gc
//	store.go             store
//	replay_options.go    flags of replay, and what they ask for
//	replay_printer.go    what it prints of each file
//	replay.go            replay
//	inspect_options.go   flags of inspect, and what they ask for
//	inspect_step.go      inspect --step, --diff, --context and --message
//	inspect_follow.go    inspect --follow
//	inspect_findings.go  what a replay says of a session that is inspected
//	inspect_printer.go   what it prints of each file
//	inspect.go           inspect
//	env.go               env
//	mcp_options.go       flags of mcp
//	mcp_print.go         mcp --print
//	mcp.go               mcp
//	proxy_options.go     flags of proxy
//	proxy_summaries.go   the model that writes summaries
//	proxy_files.go       certificates and keys, read again when they change
//	proxy_host.go        what the gateway is made of
//	proxy.go             proxy
//	loop_model.go        models of a loop
//	loop_embed.go        and of its memory
//	loop_proxy.go        a proxy for the agents of a loop
//	loop_screen.go       what is shown while it runs
//	loop_options.go      flags of loop, and what they ask for
//	loop_daemon_unix.go  a process that outlives its terminal
//	loop_daemon_other.go the same elsewhere
//	loop_daemon.go       loop --daemon
//	loop_memory.go       loop memory
//	loop_html.go         a loop for its page
//	loop_show.go         loop show, and loop --status
//	loop.go              loop
//
//	main.go              the program
package main
