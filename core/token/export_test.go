package token

// Pairs returns how many ratios c has learnt and still holds.
func (c *Calibration) Pairs() int { return c.filled }
