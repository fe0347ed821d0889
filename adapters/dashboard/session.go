package dashboard

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/instant"
	"holdco/ports/inbound"
)

// The names of the cookie. Browsers take the second one only over TLS, for this host and all of its paths.
const (
	plainCookie  = "holdco_session"
	secureCookie = "__Host-holdco_session"
)

func (d *dashboard) cookie(r *http.Request, value string) *http.Cookie {
	made := &http.Cookie{
		Name: plainCookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(access.SessionLength / time.Second),
	}
	if d.Proxies.Encrypted(r) {
		made.Name, made.Secure = secureCookie, true
	}
	if value == "" {
		made.MaxAge = -1
	}
	return made
}

// shown is what a request shows as its session; empty: nothing.
func (d *dashboard) shown(r *http.Request) string {
	found, err := r.Cookie(d.cookie(r, "").Name)
	if err != nil {
		return ""
	}
	return found.Value
}

func (d *dashboard) signedIn(r *http.Request) (inbound.SignedIn, error) {
	return d.Sessions.Authenticate(r.Context(), d.shown(r))
}

// credentials are what a person signs in with: one of the two.
type credentials struct {
	Token *string `json:"token"`
	Code  *string `json:"code"`
}

func (c credentials) check(problems fault.Problems) error {
	switch {
	case len(problems) > 0:
	case c.Token == nil && c.Code == nil:
		problems.Add(fault.Fieldf("token", fault.Required, "one of token and code is required"))
	case c.Token != nil && c.Code != nil:
		problems.Add(fault.Fieldf("code", fault.TooMany, "code must not be sent beside token: either of them signs in"))
	}
	if len(problems) > 0 {
		return fault.Validation(problems)
	}
	return nil
}

func (d *dashboard) signIn(c *gin.Context) {
	if err := d.checkOrigin(c.Request); err != nil {
		httpkit.Fail(c, err)
		return
	}
	if err := httpkit.HasRoom(c); err != nil {
		httpkit.Fail(c, err)
		return
	}
	sent, problems, err := httpkit.TakeBody[credentials](c)
	if err == nil {
		err = sent.check(problems)
	}
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	var value access.Value
	if browser := c.Request.UserAgent(); sent.Token != nil {
		value, err = d.Sessions.SignIn(c.Request.Context(), *sent.Token, browser)
	} else {
		value, err = d.Sessions.SignInOnce(c.Request.Context(), *sent.Code, browser)
	}
	if err != nil {
		d.Limits.Failed(c, err)
		return
	}
	http.SetCookie(c.Writer, d.cookie(c.Request, string(value)))
	httpkit.Write(c, httpkit.Answer{Status: httpkit.NoContent})
}

func (d *dashboard) show(c *gin.Context) {
	found, err := d.signedIn(c.Request)
	switch {
	case err != nil && d.shown(c.Request) == "":
		httpkit.Fail(c, err) // nothing was tried
		return
	case err != nil:
		d.Limits.Failed(c, err)
		return
	}
	httpkit.Write(c, httpkit.Answer{Data: event.Fields{
		event.F("tokenId", string(found.Token.ID)),
		event.F("name", found.Token.Name),
		event.F("scopes", found.Token.Scopes.Strings()),
		event.F("hint", found.Token.Hint),
		event.F("expiresAt", instant.Format(found.Session.Ends())),
		event.F("version", d.Version),
	}})
}

func (d *dashboard) signOut(c *gin.Context) {
	err := d.checkOrigin(c.Request)
	if err == nil {
		err = httpkit.HasRoom(c)
	}
	if err == nil {
		err = d.Sessions.SignOut(c.Request.Context(), d.shown(c.Request))
	}
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	http.SetCookie(c.Writer, d.cookie(c.Request, ""))
	httpkit.Write(c, httpkit.Answer{Status: httpkit.NoContent})
}
