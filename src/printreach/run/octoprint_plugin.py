"""OctoPrint's entry point to the plugin: group `octoprint.plugin`, name `service`."""

from dataclasses import replace

from printreach.agent.octoprint_plugin.plugin import ServicePlugin
from printreach.agent.uplink import Uplink
from printreach.run.agent import this_machine

__plugin_name__ = "Printreach"
__plugin_description__ = "Reach this printer from anywhere, for apps and people"
__plugin_author__ = "The Printreach authors"
__plugin_license__ = "Apache-2.0"
__plugin_pythoncompat__ = ">=3.11,<4"
__plugin_implementation__ = ServicePlugin(replace(this_machine(), stdout=None), Uplink)
__plugin_hooks__ = {
    "octoprint.accesscontrol.keyvalidator": __plugin_implementation__.user_of_key,
}
