// What pages with a camera run beside app.ts.
import { startCameraForm } from "./parts/camera_form";
import { startFullScreen } from "./parts/full_screen";
import { startSmallWindow } from "./parts/small_window";
import { startZoom } from "./parts/zoom";

startZoom();
startFullScreen();
startSmallWindow();
startCameraForm();
