package zkotel

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The attributes; README.md says what they mean. The path of spans and the template of
// metrics have different names, as what has one name should have one meaning.
const (
	pathKey      = attribute.Key("zkrecipes.path")
	templateKey  = attribute.Key("zkrecipes.path_template")
	lockKey      = attribute.Key("zkrecipes.lock")
	recipeKey    = attribute.Key("zkrecipes.recipe")
	permitsKey   = attribute.Key("zkrecipes.permits")
	aheadKey     = attribute.Key("zkrecipes.ahead")
	waitKey      = attribute.Key("zkrecipes.wait")
	handOverKey  = attribute.Key("zkrecipes.hand_over")
	reenteredKey = attribute.Key("zkrecipes.reentered")
	outcomeKey   = attribute.Key("zkrecipes.outcome")
	reasonKey    = attribute.Key("zkrecipes.reason")
	nodeKey      = attribute.Key("zkrecipes.node")
	sessionKey   = attribute.Key("zkrecipes.session")
	tokenKey     = attribute.Key("zkrecipes.token")
	operationKey = attribute.Key("zkrecipes.operation")
	attemptKey   = attribute.Key("zkrecipes.attempt")
	stateKey     = attribute.Key("zkrecipes.state")

	// errorTypeKey is of the semantic conventions.
	errorTypeKey = attribute.Key("error.type")
)

// A lock is what the attributes of a metric tell about what is acquired.
type lock struct{ template, recipe string }

func (t *Telemetry) lockOf(path, recipe string) lock { return lock{t.pathOf(path), recipe} }

// with returns the option for these attributes and more.
func (l lock) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return option(append(more, templateKey.String(l.template), recipeKey.String(l.recipe))...)
}

func option(attributes ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(attributes...))
}

// fail gives a span the status of an error.
func fail(span trace.Span, kind string, err error) {
	span.SetAttributes(errorTypeKey.String(kind))
	span.SetStatus(codes.Error, err.Error())
}
