// What every page runs. Each part finds its own elements, and does nothing where there are none.
document.documentElement.classList.remove("no-script");
