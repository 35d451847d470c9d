"""The portal, through which an app asks a person for a connection to their printer."""

from printreach.web.portal.flow import FLOW
from printreach.web.portal.forms import ACTS
from printreach.web.portal.start import START

PORTAL_PAGES = [START, FLOW, ACTS]
