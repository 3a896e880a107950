package token

// A CalibrationState is what a calibration has learnt, to be written down.
type CalibrationState struct {
	Learnt   [][2]int      `json:"learnt,omitempty"` // ratios in permille, each with its weight, oldest first
	Anchored bool          `json:"anchored,omitempty"`
	Short    int           `json:"short,omitempty"` // tokens that bounds have more, as one was short of some
	Thinking ThinkingState `json:"thinking,omitzero"`
	Frame    FrameState    `json:"frame,omitzero"`
}

// A FrameState is what reports said of a chat template, to be written down.
type FrameState struct {
	Drift   int  `json:"drift,omitempty"` // tokens that the last reported prompt had beyond the template's
	Refuted bool `json:"refuted,omitempty"`
}

// A ThinkingState is what a [Thinking] knows, to be written down.
type ThinkingState struct {
	AtTurn  bool `json:"at_turn,omitempty"` // it goes when a Turn begins
	AtStep  bool `json:"at_step,omitempty"` // it goes after each call
	Steps   int  `json:"steps,omitempty"`   // drops after a call seen in a row
	Turn    int  `json:"turn,omitempty"`    // tokens of thinking in this Turn that are still in the prompt
	Last    int  `json:"last,omitempty"`    // of the newest reply
	Pending int  `json:"pending,omitempty"` // of the Turn that has ended, until the next report
}

// State returns what c has learnt.
func (c *Calibration) State() CalibrationState {
	s := CalibrationState{Anchored: c.anchored, Short: c.short, Thinking: c.thinking.s, Frame: c.frame}
	for i := range c.filled {
		l := c.ring[(c.next-c.filled+i+ringSize)%ringSize]
		s.Learnt = append(s.Learnt, [2]int{l.ratio, l.weight})
	}
	return s
}

// Restore takes c, of the same family, to what was written down.
func (c *Calibration) Restore(s CalibrationState) {
	low, high := share(c.family.Prior, lowestRatio), share(c.family.Prior, highestRatio)
	c.ring, c.filled, c.next = [ringSize]learnt{}, 0, 0
	for _, l := range s.Learnt {
		c.ring[c.next] = learnt{clamp(l[0], low, high), clamp(l[1], 0, heaviestPair)}
		c.next = (c.next + 1) % ringSize
		c.filled = min(c.filled+1, ringSize)
	}
	c.anchored, c.thinking, c.ratio = s.Anchored, Thinking{s.Thinking}, c.median()
	c.short = clamp(s.Short, 0, mostShort)
	c.frame = FrameState{clamp(s.Frame.Drift, -maxTokens, maxTokens), s.Frame.Refuted}
}
