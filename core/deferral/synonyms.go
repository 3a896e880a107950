package deferral

import (
	"slices"
	"strings"
)

// glossary has everyday words and, behind the colon, what those who write tools call the same
// thing: what is done, people, then the parts of browsers, version control, code review, builds,
// documents and drawings. Words with _ between them count where they follow each other. It was
// written for this package, from what such programs call them, and tried on the requests of
// testdata/requests.tsv that are for that.
const glossary = `
	add another new write compose establish introduce insert found set_up invent : create new add post
	define register : create add new
	generate produce : create generate
	change alter modify adjust revise amend rewrite improve tweak refine reword polish convert : update edit change
	remove erase drop wipe throw_away discard destroy get_rid trash scrap eliminate dispose forget : delete remove clear
	cut strip take_off take_out clean_up : delete remove clear
	empty wipe forget purge : clear reset
	no_more no_longer : delete remove disable stop
	print tell written inside : get contents
	what which enumerate list are_there how_many count inventory : list
	once at_once in_one_go several many two three four five ten together : multiple bulk batch
	every : list bulk
	single : pick
	immediately right_away now : immediately play
	switch : switch select
	called title name : name title
	find look_for look_up search seek hunt anywhere mention contain locate discover spot track_down : search find
	choose pick take mark tick : select choose
	begin start launch initiate activate enable switch_on turn_on : start init
	launch run execute fire kick go : start run trigger execute
	end finish quit shut shut_down switch_off turn_off exit cease suspend disable deactivate : close stop end
	abort halt terminate interrupt kill call_off : cancel stop
	rerun repeat anew once_more start_over try_again : retry again
	check ensure sure assert confirm whether prove see_if : verify check validate
	correct valid right wrong mistake : validate lint
	until hold hold_on pause soon ready finished gone vanish delay sleep : wait
	copy duplicate twin replicate reproduce mirror : clone duplicate fork copy
	continue proceed carry_on go_on : resume
	monitor observe follow stream live : watch
	raise lift : promote
	automatic automatically : auto
	everything full whole complete : details full deep
	trouble broken : diagnose health
	ready_made preset pattern boilerplate : template
	derive take_out : extract
	place insert : instantiate append
	unlock : unprotect
	order front sequence sort rearrange : reorder move order
	move shift drag relocate transfer put place carry nudge : move
	different difference alter changed modified between since : diff changes compare status
	match same equal correspond versus vs against : compare parity
	size width height wide tall shrink grow enlarge bigger smaller larger scale dimension big small large narrow : resize size
	hide invisible conceal omit leave_out disappear cover mask : hide skip
	seen visible shown appear displayed : visible show
	mark outline emphasise emphasize stress : highlight
	describe explain : description document
	examine study investigate look_into : analyze
	quality good score rate : audit report
	overview short brief total summarise summarize sum_up : summary
	alive reachable connection healthy running : status health connection
	restore recover undo bring_back put_back earlier reset : restore reset revert
	load bring_in : import restore load
	save keep store archive remember : save
	write_out convert : export
	send attach supply provide : upload
	save keep obtain : download
	accept sign_off permit allow agree consent approve ok fine endorse lgtm : approve approval
	withdraw take_back : unapprove revoke
	forbid prevent prohibit guard lock nobody : protect
	settle solve close : resolve
	publish send release share announce : publish
	tidy align line_up organize organise neat layout grid : arrange
	old unused out_of_date outdated stale long obsolete abandoned idle inactive expired : stale
	owner responsible take_over hand_over in_charge : ownership
	connect relate relation between : link connection
	back_up : save export
	fill_in fill_out : fill form
	type_in key_in : type fill
	get_back give_back roll_back : restore revert reset
	go_ahead : approve play
	go_through : review
	kick_off set_off : start trigger run
	look_at : get
	point_out : highlight annotation
	switch_to switch_over : switch checkout select navigate
	take_down tear_down close_down : stop delete
	write_down : record
	stuck hang frozen : reconnect cancel

	person people colleague everybody teammate contact : user member author
	account people login person : user
	myself : whoami self current
	team department organisation organization : group member
	namespace team : group namespace
	access permission belong role : member access
	sign_in log_in login password credentials : session storage auth authentication
	secret parameter setting constant env : variable config
	profile : user
	mine own : my user
	who_am : whoami self
	options : config settings
	invite : member

	site website webpage : page browser
	open visit url https go : navigate url open
	loaded : tab page
	return back previous go_back : back history navigate
	window screen viewport : window page viewport
	hit press : press key
	push tap press : click
	pull : drag
	pointer cursor : mouse hover
	tooltip point_at : hover
	release let_go : drop
	typing letter : type
	tracking consent : cookie
	extension addon : plugin
	restart afresh : reload
	dropdown menu : dropdown select option
	photo picture image grab photograph render png snap : screenshot image capture
	film movie clip : video recording screencast
	attach disk : upload file attachment
	enter questionnaire values answers registration fields : fill form input type
	popup prompt alert confirmation modal dismiss : dialog
	http ajax call traffic api : request network
	headers body post response : request network
	fake faking stub mock : mock route
	internet : network offline
	pretend simulate imitate act_as : emulate simulate
	dark theme mode : emulate color scheme
	print printable : pdf print
	log print printed output errors warnings debug : console log output trace messages
	javascript script snippet calculate compute : evaluate javascript script code
	selector : locator selector
	slow speed fast vitals quick measure timing late profile : performance trace
	leak : heap memory
	optimisation score seo : audit lighthouse seo
	rules : css rules styles
	colour paint red green blue background : color fill
	outline border edge thick thin : stroke highlight border
	persisted remembered stored kept locally : storage
	key value : localstorage item
	draw notes sketch : annotate annotation
	accessibility : accessibility snapshot
	scroll swipe down : wheel scroll
	keyboard shortcut : press key
	record demonstrate repeated : recording record
	refresh : reload navigate
	phone mobile tablet device : emulate resize
	location country gps : emulate geolocation
	field : input form
	macro : recording

	repo project codebase repository software code : repository project
	history past did happened activity timeline feed : log history commits events
	undo revert discard : reset revert undo
	aside shelve temporarily : stash
	publish upload : push
	download server : fetch pull download remote
	sync up_to_date newest : pull update latest
	combine join unite put_together land integrate accept : merge
	staged prepare prepared index : stage add staged
	prepared staged save : commit
	untracked tracked : untracked clean
	version mark : tag version release
	folder directory : directory tree dir
	parallel side_by_side : worktree parallel
	changed author : blame authorship
	revision change snapshot check_in : commit
	address origin : remote url
	top newest : rebase top
	lost recover : reflog lost
	machine local : clone local
	version_control : git repository
	line development main feature : branch
	go_over : checkout switch
	standard : default
	current folder : working dir
	release_notes news : changelog
	unstage : reset
	particular specific certain backport : cherry pick
	uncommitted : status diff

	bug ticket problem defect tracker fault task incident story complaint : issue
	pr proposal : pull request
	mr proposal : merge request
	remark comment say said pending opinion feedback message : comment note draft
	reply answer respond : comment note
	conversation discussion talk debate : thread discussion comment
	land : merge
	propose suggest : create merge pull request
	clash collide : conflict
	inspection opinion judge assess feedback verdict : review
	green pass passed : status checks
	thumbs heart smiley react : emoji reaction
	to_do task waiting duty reminder pending : todo assigned
	tick : done
	category kind tag sort : label
	blocks depends connect : link
	due deadline goal plan target phase : milestone
	version release : milestone tag
	article knowledge_base handbook manual docs guide : wiki page
	touch paths : files changed
	source : code files
	function : code
	earlier older state yesterday previously ago : version history
	sprint : iterations
	progress remaining left pace : burndown status
	unpublished unfinished : draft
	related belong_together : link
	attached enclosure : attachment
	state condition : status

	build ci compile workflow : pipeline job
	night nightly recurring cron every daily hourly weekly regularly timer regular : schedule
	binary result produced package : artifacts
	broke failed fail : failed
	step compile stage : job
	by_hand manual : play manual
	webhook outside : trigger
	information : metadata details
	yaml configuration : ci lint configuration
	ship production live rollout roll_out went_live launch : deployment deploy environment
	release : deployment release
	preview staging server host : environment review
	cases passed tests : test report

	document : page file
	table rows columns records entries : database data source query
	column field attribute : property
	entry row record : page
	paragraph text sentence piece passage : block text append
	plain headings markdown content : markdown content
	parent below under : parent move
	workspace : users
	layer rectangle shape box frame object item : node
	circle ellipse square round : shape
	drawing mockup sketch canvas : design component figma
	wording headline words caption : text
	library widget reuse reusable building_block symbol : component library instance
	placed occurrence : instance
	button checkbox link : element component click
	brand theme spacing colours appearance : variable token design
	card idea workshop brainstorming postit note : sticky
	arrow line : connector
	board whiteboard : figjam board
	presentation deck keynote : slide presentation
	fade animation effect : transition
	picked : selected selection
	designer drawing : figma
	developers spec : dev developer annotations
	shared ready : library published
	font typeface typography : text styles
	diagram flowchart : connector shape
	palette : color styles variable
	spreadsheet sheet : table
	variant : component set
	sub nested inside : children child
	part area region : section
	backdrop behind : background
	current jump : focus
	look_like : compare parity
	programmer implement : development developer
	placeholder gap : slot
	set : collection
	theme : mode
	title retitle : rename
	at_the_end : append`

// mostTogether bounds the words of the glossary that follow each other.
const mostTogether = 3

// A thesaurus has the stems that are used for a stem, or for some that follow each other.
type thesaurus map[string][]string

// newThesaurus reads the glossary.
func newThesaurus(stem stemmer) thesaurus {
	t := thesaurus{}
	for line := range strings.Lines(glossary) {
		everyday, technical, _ := strings.Cut(line, ":")
		others := stem.all(strings.Fields(technical))
		for _, words := range strings.Fields(everyday) {
			from := together(stem.all(strings.Split(words, "_")))
			for _, to := range others {
				if to != from && !slices.Contains(t[from], to) {
					t[from] = append(t[from], to)
				}
			}
		}
	}
	return t
}

// first returns how many stems at the beginning of a text are looked up as one, and that one.
func (t thesaurus) first(stems []string) (n int, entry string) {
	for n := min(mostTogether, len(stems)); n > 1; n-- {
		if entry := together(stems[:n]); t[entry] != nil {
			return n, entry
		}
	}
	return 1, stems[0]
}

// together returns the entry for stems that follow each other.
func together(stems []string) string { return strings.Join(stems, "_") }
