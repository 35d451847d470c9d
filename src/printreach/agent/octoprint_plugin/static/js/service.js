/* The settings page of Printreach. Whatever comes from outside is put in as text, never as HTML. */
$(function () {
    "use strict";

    const POLL_MS = 2000;
    const FORBIDDEN = 403;
    const ICONS = {
        connected: "fas fa-check text-success",
        unlinked: "fas fa-link",
        refused: "fas fa-exclamation-triangle text-error",
        disconnected: "fas fa-exclamation-triangle text-warning"
    };

    function PrintreachViewModel() {
        const self = this;

        self.address = ko.observable("");
        self.savedAddress = ko.observable("");
        self.addressError = ko.observable("");
        self.isForbidden = ko.observable(false);
        self.isBusy = ko.observable(false);
        self.state = ko.observable({});

        const told = (name) => ko.pureComputed(() => self.state()[name] || "");
        self.says = told("Says");
        self.lastError = told("LastError");
        self.linkUrl = told("LinkUrl");
        self.isLinked = told("IsLinked");
        self.printerName = told("PrinterName");
        self.printerId = told("PrinterId");
        self.serviceUrl = told("ServiceUrl");
        self.agentVersion = told("AgentVersion");

        self.isDirty = ko.pureComputed(() => self.address().trim() !== self.savedAddress());
        self.icon = ko.pureComputed(() => ICONS[self.state().Phase] || "fas fa-info-circle muted");
        self.linkCode = ko.pureComputed(() => {
            const code = self.state().LinkCode || "";
            return code && code.slice(0, code.length / 2) + "-" + code.slice(code.length / 2);
        });
        self.expiresIn = ko.pureComputed(() => {
            const minutes = Math.floor((self.state().ExpiresInSec || 0) / 60);
            if (minutes < 1) return gettext("less than a minute");
            return _.sprintf(ngettext("%(count)d minute", "%(count)d minutes", minutes), {
                count: minutes
            });
        });

        self.address.subscribe(() => self.addressError(""));

        let timer = null;
        let asked = 0; // the latest question: the answer to an older one comes too late

        self.connect = () => {
            if (!self.isDirty() || self.isBusy()) return $.Deferred().resolve().promise();
            return ask("connect", {service_url: self.address()}).fail((xhr) => {
                if (xhr.status !== FORBIDDEN) self.addressError(sentenceOf(xhr));
            });
        };

        self.unlink = () => {
            showConfirmationDialog({
                title: gettext("Unlink this printer?"),
                message: gettext(
                    "It can then no longer be reached through the service, and your apps have to " +
                        "be connected again. Its entry stays in your account until you remove " +
                        "it there."
                ),
                proceed: gettext("Unlink"),
                onproceed: () => ask("unlink", {})
            });
        };

        self.onSettingsShown = () => {
            self.addressError("");
            ask("state", {});
        };

        /* The dialog's own Save: nobody who typed an address expects it to be lost. */
        self.onSettingsBeforeSave = () => {
            self.connect().fail((xhr) => {
                if (xhr.status === FORBIDDEN) return;
                new PNotify({
                    title: gettext("Printreach"),
                    text: _.escape(sentenceOf(xhr)),
                    type: "error"
                });
            });
        };

        self.onSettingsHidden = () => {
            clearTimeout(timer);
            timer = null;
            asked += 1;
            self.isBusy(false);
            self.address(self.savedAddress());
        };

        function ask(command, data) {
            const number = (asked += 1);
            clearTimeout(timer);
            self.isBusy(command !== "state");
            return OctoPrint.simpleApiCommand("service", command, data)
                .done((state) => {
                    self.isForbidden(false);
                    if (number !== asked) return;
                    self.state(state);
                    // what somebody is typing meanwhile stays
                    if (command === "connect" || !self.isDirty()) self.address(state.SavedAddress);
                    self.savedAddress(state.SavedAddress);
                })
                .fail((xhr) => self.isForbidden(xhr.status === FORBIDDEN))
                .always(() => {
                    if (number !== asked) return;
                    self.isBusy(false);
                    if (!self.isForbidden()) timer = setTimeout(() => ask("state", {}), POLL_MS);
                });
        }

        function sentenceOf(xhr) {
            const answer = xhr.responseJSON;
            return (answer && answer.error) || gettext("OctoPrint did not answer.");
        }
    }

    OCTOPRINT_VIEWMODELS.push({
        construct: PrintreachViewModel,
        elements: ["#printreach_settings"]
    });
});
