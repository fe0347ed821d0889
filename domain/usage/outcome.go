package usage

// outcome is what a program says about how its run went, besides what it costs.
type outcome struct {
	isDone  bool // it said that it succeeded, and nothing after that
	isError bool
	message string
	result  string
	trouble trouble
}

func (o *outcome) said() *outcome { return o }

// succeed takes a success and its final message.
func (o *outcome) succeed(result string) {
	*o = outcome{isDone: true, result: bounded(result)}
}

// fail takes a failure. What the message says of a setback stands in for what is not known of it otherwise.
func (o *outcome) fail(message string, known trouble) {
	o.isDone, o.isError, o.message, o.result = false, true, cleaned(message), ""
	o.meet(known)
	if o.trouble.kind == NoSetback {
		o.trouble = ofWords(message)
	}
	if o.trouble.message == "" {
		o.trouble.message = o.message
	}
}

// meet takes a setback, if it is one. What was known of the same one before stays known.
func (o *outcome) meet(t trouble) {
	switch {
	case t.kind == NoSetback:
	case t.kind == o.trouble.kind && t.resetsAt.IsZero():
		o.trouble.isOverload = t.isOverload && o.trouble.resetsAt.IsZero()
	default:
		o.trouble = t
	}
}
