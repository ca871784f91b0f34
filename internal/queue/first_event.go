package queue

import (
	"context"
	"reflect"

	"github.com/zkrecipes/zkrecipes/framework"
)

// firstEvent waits for the first event of several watches, some of which may be nil,
// and returns the index of that watch; -1 if found was closed first. ok is false if ctx
// ended.
func firstEvent(ctx context.Context, found <-chan struct{}, watches []*framework.Watch) (which int, ev framework.Event, ok bool) {
	cases := make([]reflect.SelectCase, len(watches)+2)
	for i, w := range watches {
		var events <-chan framework.Event
		if w != nil {
			events = w.Events()
		}
		cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(events)}
	}
	cases[len(watches)] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}
	cases[len(watches)+1] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(found)}
	which, value, received := reflect.Select(cases)
	switch {
	case which > len(watches):
		return -1, framework.Event{}, true
	case !received:
		return 0, framework.Event{}, false
	}
	return which, value.Interface().(framework.Event), true //nolint:forcetypeassert // the channels are of that type
}
