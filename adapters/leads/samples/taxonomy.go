package samples

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"holdco/domain/event"
	"holdco/domain/text"
)

// industry is one with its verticals; both in the order of how popular they are.
type industry struct {
	name      string
	inactive  bool
	verticals []vertical
}

// vertical has the names that its companies are made of.
type vertical struct {
	name, trade string
	inactive    bool
}

var industries = []industry{
	{"Food and Drink", false, []vertical{{"Restaurants", "Kitchen", false}, {"Bakeries", "Bakery", false},
		{"Cafés", "Coffee House", false}, {"Breweries", "Brewing", false}}},
	{"Health", false, []vertical{{"Dentists", "Dental", false}, {"Physiotherapy", "Physio", false},
		{"Veterinarians", "Animal Clinic", false}, {"Opticians", "Optics", false}}},
	{"Home Services", false, []vertical{{"Plumbers", "Plumbing", false}, {"Electricians", "Electric", false},
		{"Roofers", "Roofing", false}, {"Chimney Sweeps", "Chimneys", true}}},
	{"Retail", false, []vertical{{"Fashion", "Boutique", false}, {"Bookshops", "Books", false}, {"Florists", "Flowers", false},
		{"Video Rental", "Video", true}}},
	{"Beauty", false, []vertical{{"Hairdressers", "Hair", false}, {"Barbers", "Barbershop", false}, {"Nail Studios", "Nails", false},
		{"Day Spas", "Spa", false}}},
	{"Automotive", false, []vertical{{"Car Repair", "Garage", false}, {"Car Dealers", "Motors", false}, {"Tyre Shops", "Tyres", false},
		{"Driving Schools", "Driving School", false}}},
	{"Legal and Finance", false, []vertical{{"Lawyers", "Law", false}, {"Accountants", "Accounting", false},
		{"Insurance Brokers", "Insurance", false}, {"Notaries", "Notary", false}}},
	{"Fitness and Sport", false, []vertical{{"Gyms", "Fitness", false}, {"Yoga Studios", "Yoga", false},
		{"Bicycle Shops", "Cycles", false}, {"Climbing Halls", "Climbing", false}}},
	{"Property", false, []vertical{{"Estate Agents", "Estates", false}, {"Property Managers", "Property", false},
		{"Surveyors", "Surveying", false}, {"Movers", "Moving", false}}},
	{"Construction", false, []vertical{{"Builders", "Construction", false}, {"Carpenters", "Joinery", false},
		{"Painters", "Painting", false}, {"Architects", "Architects", false}}},
	{"Travel", false, []vertical{{"Hotels", "Hotel", false}, {"Guest Houses", "Guest House", false}, {"Tour Operators", "Tours", false},
		{"Travel Agencies", "Travel", true}}},
	{"Education", false, []vertical{{"Language Schools", "Languages", false}, {"Music Schools", "Music School", false},
		{"Tutoring", "Tutors", false}, {"Day Care", "Kindergarten", false}}},
	{"Technology", false, []vertical{{"Software", "Software", false}, {"IT Services", "Systems", false},
		{"Repair Shops", "Repairs", false}, {"Hosting", "Hosting", false}}},
	{"Media and Marketing", false, []vertical{{"Advertising", "Creative", false}, {"Photographers", "Photography", false},
		{"Print Shops", "Print", false}, {"Film Production", "Films", false}}},
	{"Logistics", false, []vertical{{"Couriers", "Couriers", false}, {"Freight", "Freight", false}, {"Warehousing", "Storage", false},
		{"Taxis", "Cabs", false}}},
	{"Manufacturing", false, []vertical{{"Metalworking", "Metals", false}, {"Furniture", "Furniture", false},
		{"Packaging", "Packaging", false}, {"Textiles", "Textiles", false}}},
	{"Agriculture", false, []vertical{{"Farms", "Farm", false}, {"Wineries", "Winery", false}, {"Nurseries", "Nursery", false},
		{"Forestry", "Timber", false}}},
	{"Energy", false, []vertical{{"Solar", "Solar", false}, {"Heating", "Heating", false}, {"Charging", "Charging", false},
		{"Coal Merchants", "Coal", true}}},
	{"Telegraphy", true, []vertical{{"Telegraph Offices", "Telegraph", false}, {"Pneumatic Post", "Tubes", false},
		{"Pigeon Post", "Pigeons", false}, {"Telex", "Telex", true}}},
	{"Ice Trade", true, []vertical{{"Ice Harvesting", "Ice", false}, {"Ice Houses", "Ice House", false},
		{"Ice Delivery", "Ice Carts", false}, {"Ice Export", "Ice Export", true}}},
}

// geography is a city, with the beginning of its telephone numbers.
type geography struct{ name, country, dial string }

var geographies = []geography{
	{"New York", "US", "+1 212 555"}, {"London", "GB", "+44 20 7946"}, {"Berlin", "DE", "+49 30 2312"}, {"Paris", "FR", "+33 1 9900"},
	{"Los Angeles", "US", "+1 213 555"}, {"Toronto", "CA", "+1 416 555"}, {"Sydney", "AU", "+61 2 5550"}, {"Madrid", "ES", "+34 91 555"},
	{"Chicago", "US", "+1 312 555"}, {"Hamburg", "DE", "+49 40 6696"}, {"Manchester", "GB", "+44 161 496"}, {"Munich", "DE", "+49 89 9998"},
	{"Houston", "US", "+1 713 555"}, {"Milan", "IT", "+39 02 5550"}, {"Barcelona", "ES", "+34 93 555"}, {"Vienna", "AT", "+43 1 5550"},
	{"Zürich", "CH", "+41 44 555"}, {"Amsterdam", "NL", "+31 20 555"}, {"Brussels", "BE", "+32 2 555"}, {"Copenhagen", "DK", "+45 55 50"},
	{"Stockholm", "SE", "+46 8 5550"}, {"Oslo", "NO", "+47 55 50"}, {"Helsinki", "FI", "+358 9 555"}, {"Dublin", "IE", "+353 1 555"},
	{"Lisbon", "PT", "+351 21 555"}, {"Rome", "IT", "+39 06 5550"}, {"Warsaw", "PL", "+48 22 555"}, {"Prague", "CZ", "+420 25555"},
	{"Kraków", "PL", "+48 12 555"}, {"Athens", "GR", "+30 21 0555"}, {"Istanbul", "TR", "+90 212 555"}, {"Tokyo", "JP", "+81 3 5550"},
	{"Osaka", "JP", "+81 6 5550"}, {"Singapore", "SG", "+65 6555"}, {"Melbourne", "AU", "+61 3 5550"}, {"Auckland", "NZ", "+64 9 555"},
	{"São Paulo", "BR", "+55 11 5550"}, {"Mexico City", "MX", "+52 55 5550"}, {"Montréal", "CA", "+1 514 555"}, {"Nairobi", "KE",
		"+254 20 555"},
}

// Taxonomy writes the taxonomy, which is the same in every set.
func (s *Set) Taxonomy(to io.Writer) error {
	var shownIndustries, shownVerticals, shownGeographies, shownIntelligence []event.Fields
	for _, i := range industries {
		shownIndustries = append(shownIndustries, event.Fields{
			event.F("id", i.id()), event.F("name", i.name), event.F("slug", slug(i.name)), event.F("active", !i.inactive),
		})
		for n, v := range i.verticals {
			shownVerticals = append(shownVerticals, event.Fields{
				event.F("id", v.id()), event.F("industry_id", i.id()), event.F("name", v.name), event.F("slug", slug(v.name)),
				event.F("active", !v.inactive),
			})
			if n < 3 { // the fourth has no intelligence
				shownIntelligence = append(shownIntelligence, v.intelligence(i))
			}
		}
	}
	for _, g := range geographies {
		shownGeographies = append(shownGeographies, event.Fields{
			event.F("id", g.id()), event.F("name", g.name), event.F("slug", slug(g.name)), event.F("country_code", g.country),
		})
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(event.Fields{
		event.F("industries", shownIndustries), event.F("verticals", shownVerticals), event.F("geographies", shownGeographies),
		event.F("vertical_intelligence", shownIntelligence),
	})
}

func (v vertical) intelligence(of industry) event.Fields {
	what := strings.ToLower(v.name)
	return event.Fields{
		event.F("id", "vin_"+slug(v.name)),
		event.F("vertical_id", v.id()),
		event.F("summary", fmt.Sprintf(
			"Most %s are small, led by their owners, and found by word of mouth. "+
				"Of what %s spends, little goes into software yet.",
			what, strings.ToLower(of.name))),
		event.F("pain_points", []string{"Enquiries come by telephone while everybody is at work",
			"Reviews of " + what + " are answered late, or never", "Nobody keeps the website up to date"}),
		event.F("buying_signals", []string{"A second site was opened", "Staff is looked for", "The rating has fallen within a year"}),
	}
}

func (i industry) id() string  { return "ind_" + slug(i.name) }
func (v vertical) id() string  { return "vrt_" + slug(v.name) }
func (g geography) id() string { return "geo_" + strings.ToLower(g.country) + "-" + slug(g.name) }

func (i industry) reference() any { return reference(i.id(), i.name, slug(i.name)) }
func (v vertical) reference() any { return reference(v.id(), v.name, slug(v.name)) }

func slug(name string) string { return text.Slug(name, "unnamed") }
