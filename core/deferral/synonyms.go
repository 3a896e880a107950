package deferral

import "strings"

// glossary has everyday words and, behind the colon, what those who write tools call the same
// thing: the parts of browsers, version control, code review, builds, documents and drawings. It was
// written for this package, from what such programs call them, and tried on the half of
// testdata/requests.tsv that is for that.
const glossary = `
	add another make new set write : create new add post
	change alter modify : update edit
	remove erase drop wipe throw away : delete remove clear
	show see view display look : get view list
	what which : list
	once several many two three four five : multiple bulk batch
	only : pick
	immediately away now : immediately play
	switch : switch select
	called title : title name
	find look where : search find
	choose pick take : select choose
	begin start : start init
	launch run : start run trigger
	end finish quit shut : close stop end
	abort halt : cancel stop
	again rerun repeat : retry again
	check ensure sure assert : verify check validate
	correct valid right : validate lint
	hold until : wait
	name : rename
	copy duplicate : clone duplicate fork copy
	order front sequence : reorder move order
	different differ alter changed modified : diff changes compare status
	match same equal : compare parity
	size width height shrink grow : resize
	hide invisible : hide skip
	seen visible shown : visible
	describe explain about : description document
	alive reachable connection healthy : status health connection
	who person people colleague : user member author
	account people login : user

	site website webpage : page browser
	open visit url https : navigate url open
	other loaded : tab page
	return back previous : back history navigate
	window screen : window page viewport
	hit : press key
	push tap : click
	pull : drag
	pointer cursor : mouse hover
	tooltip : hover
	dropdown menu : dropdown select option
	photo picture image grab : screenshot image capture
	film movie clip : video recording screencast
	attach disk : upload file attachment
	enter questionnaire values : fill form input type
	popup prompt alert confirmation : dialog
	http ajax : request network
	headers body post : request network
	fake faking stub mock : mock route
	internet : network offline
	pretend simulate imitate : emulate simulate
	dark theme : emulate color scheme
	print printable : pdf print
	log print printed : console log output trace
	javascript script : evaluate javascript script
	selector : locator selector
	slow speed fast vitals : performance trace
	leak : heap memory
	optimisation score seo : audit lighthouse seo
	rules : css rules styles
	colour coloured paint : color fill
	outline border : stroke highlight border
	login : session storage auth cookies
	persisted remembered stored : storage
	key value : localstorage item
	draw notes : annotate annotation
	accessibility : accessibility snapshot
	scroll : wheel scroll
	keyboard : press key
	record demonstrate repeated : recording record

	repo project codebase repository : repository project
	history past did : log history commits events
	undo revert : reset revert undo
	aside shelve : stash
	publish : push
	download server : fetch pull download remote
	date sync : pull update latest
	combine join unite : merge
	staged prepare prepared : stage add staged
	tracked untracked : untracked clean
	version : tag version release
	folder folders directory : directory tree
	parallel side : worktree parallel
	changed author : blame authorship
	revision : commit
	address origin : remote url
	top newest : rebase top
	lost recover : reflog lost
	committing : commit
	machine local : clone local
	control : git repository

	bug ticket tickets problem defect tracker : issue
	pr : pull request
	mr : merge request
	remark remarked comment say said pending : comment note draft
	conversation discussion talk : thread discussion comment
	consent agree ok fine approve allow : approve approval
	back withdraw : unapprove revoke
	forbid prevent prohibit : protect
	settled settle : resolve
	land : merge
	propose suggest taken : create merge pull request
	clash collide : conflict
	inspection : review
	green : status checks
	thumbs like : emoji reaction
	asked : todo assigned
	access permission : member access
	tag category kind : label
	blocks depends : link
	due deadline goal plan : milestone
	article knowledge base : wiki page
	team namespace : group namespace
	touch touched paths : files changed
	sources source : code files
	develop main feature : branch
	source function : code

	build builds building ci : pipeline job
	night nightly recurring cron every : schedule
	binaries binary : artifacts
	broke failed fail : failed
	step : job
	yaml configuration : ci lint configuration
	shipped ship production live : deployment deploy environment
	release : deployment release
	preview staging : environment review
	cases passed : test report

	document documents : page
	table rows : database data source query
	paragraph text : block text append
	plain headings markdown : markdown content
	parent : parent move
	minutes meeting : page create
	workspace : users
	layer layers rectangle shape box frame : node
	mockup mockups : design component
	wording headline : text
	library button checkbox reuse : component library instance
	brand theme spacing spacings : variable token design
	contrast wcag : accessibility wcag audit
	card cards ideas workshop brainstorming : sticky
	arrow arrows : connector
	line align grid : arrange grid
	board whiteboard : figjam board
	presentation presenting deck : slide slides presentation
	fade animation : transition
	picked : selected selection
	designer : figma
	anatomy states : component documentation
	developers : dev developer`

// A thesaurus has the stems that are used for a stem.
type thesaurus map[string][]string

// newThesaurus reads the glossary.
func newThesaurus() thesaurus {
	t := thesaurus{}
	for line := range strings.Lines(glossary) {
		everyday, technical, _ := strings.Cut(line, ":")
		for _, w := range strings.Fields(everyday) {
			for _, other := range strings.Fields(technical) {
				if from, to := stem(w), stem(other); from != to {
					t[from] = append(t[from], to)
				}
			}
		}
	}
	return t
}
