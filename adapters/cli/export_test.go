package cli

var Gather = gather[int]
