document.documentElement.classList.remove("no-script");
