package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/fault"
)

// fieldAnnotation names the field that a flag sets, where the flag has another name.
const fieldAnnotation = "field"

// setsField notes that a flag sets a field with another name than its own.
func setsField(flags *pflag.FlagSet, flag, field string) {
	_ = flags.SetAnnotation(flag, fieldAnnotation, []string{field})
}

// flagMessage is the message of a field at fault as the command line needs it: it names the flag instead of the path, and
// of a list the item. Where no flag sets the field, it is the message itself.
func flagMessage(command *cobra.Command, field fault.Field) string {
	rest, found := strings.CutPrefix(field.Message, field.Path+" ")
	flag, index := flagOf(command.Flags(), field.Path), ""
	if dot := strings.LastIndexByte(field.Path, '.'); flag == nil && dot >= 0 {
		flag, index = flagOf(command.Flags(), field.Path[:dot]), field.Path[dot+1:]
	}
	if flag == nil || !found {
		return field.Message
	}
	subject := "--" + flag.Name
	list, isList := flag.Value.(pflag.SliceValue)
	if isList && index != "" {
		if i, err := strconv.Atoi(index); err == nil && i < len(list.GetSlice()) {
			subject += fmt.Sprintf(" %q", strings.TrimSpace(list.GetSlice()[i]))
		}
	}
	if !isList && index != "" {
		subject += ": " + index
	}
	return subject + " " + rest
}

func flagOf(flags *pflag.FlagSet, field string) (found *pflag.Flag) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if set := flag.Annotations[fieldAnnotation]; len(set) > 0 && set[0] == field || len(set) == 0 && flag.Name == field {
			found = flag
		}
	})
	return found
}
