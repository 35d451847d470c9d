// What every page runs. Each part finds its own elements, and does nothing where there are none.
// The pages work without any of it: scripts only freshen them.
import { startAwaiting } from "./parts/awaiting";
import { startBack } from "./parts/back";
import { startConfirming } from "./parts/dialogs";
import { startCopying } from "./parts/copying";
import { startDevice } from "./parts/device";
import { startLive } from "./parts/live";
import { startLogos } from "./parts/logos";
import { startMasks } from "./parts/masks";
import { startPasskeys } from "./parts/passkeys";
import { startPictures } from "./parts/pictures";
import { startQuestions } from "./parts/questions";
import { startSections } from "./parts/sections";
import { startSending } from "./parts/sending";
import { startShortcuts } from "./parts/shortcuts";
import { startTimes } from "./parts/times";
import { startToasts } from "./parts/toasts";
import { startUploads } from "./parts/uploads";

document.documentElement.classList.remove("no-script");
startTimes(document);
startBack();
startToasts();
startConfirming();
startCopying();
startUploads();
startQuestions();
startSections();
startSending();
startShortcuts();
startPictures();
startLogos();
startPasskeys();
startAwaiting();
startMasks();
startDevice();
startLive();
